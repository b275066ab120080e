# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CONFIRM RKEY and DELETE RKEY in a group with two links, over either: the first key in
# CONFIRM RKEY is for the link that carries it, and an RMB that is withdrawn by its key of
# one link is forgotten on the other one, too (RFC 7609 3.5.5.2.2, A.3.5). The reply has
# the entries of the request.
#
# covers: LLC-56 LLC-58 LLC-59 LLC-67 RMB-05
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

rkeys() {
	local one other by
	for one in 1 2; do
		other=$((3 - one))
		for by in 1 2; do
			cat <<-E
				on $one tx llc confirm_rkey rkey=0x1122330$one va=0x7f0012340000 n=1 link1=%{$other:link_num} rkey1=0x1122330$other va1=0x7f0056780000
				on $one rx llc confirm_rkey reply=1 negative=0 n=1 rkey=0x1122330$one va=0x7f0012340000 link1=%{$other:link_num} rkey1=0x1122330$other va1=0x7f0056780000
				on $by tx llc delete_rkey n=1 rkey1=0x1122330$by
				on $by rx llc delete_rkey reply=1 negative=0 mask=0
				on $((3 - by)) tx llc delete_rkey n=1 rkey1=0x1122330$((3 - by))
				on $((3 - by)) rx llc delete_rkey reply=1 negative=1 mask=0x80
				on $by tx llc delete_rkey n=1 rkey1=0x1122330$by
				on $by rx llc delete_rkey reply=1 negative=1 mask=0x80
			E
		done
	done
}

server() {
	fast max_links=2
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	pup_bg < <(
		printf '%s\n' "link 2 of 1" "nic $(rnic 1)" "link 1" "listen 5001" "mark up2" "accept" "first_contact until=add_link" "add_link 2"
		rkeys
		printf '%s\n' "link 1" "rx data len=5" "tx data len=5" "close"
	)
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" < <(
		printf '%s\n' "link 2 of 1" "nic $(rnic 1)" "link 1" "connect $PEER 5000" "first_contact until=add_link" "add_link 2"
		rkeys
		printf '%s\n' "link 1" "tx data len=5" "rx data len=5" "close"
	)
	await up2
	fast max_links=2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
