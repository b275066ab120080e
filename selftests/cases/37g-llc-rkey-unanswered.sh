# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# DELETE RKEY is not answered, over one link of three and over the next: each of them
# fails, and the RMB is not freed, because the peer may still use its key. The request is
# repeated later, over the link that is left (RFC 7609 3.5.5.2.2). Each request has the
# RMB's key of the link that carries it.
#
# covers: LLC-65 LLC-66
# module: ours none
# nics: 3/3
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i calls=()
	fast rmem=65536 max_links=3 t_llc=1000 t_rmb_free=400 t_abort=300 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	# four elements in the first RMB of this size
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..5}; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	app_end "server program"
	await unanswered 30
	eq "no RMB is freed" "$(counter rmb-freed)" 0
	mark again
	await answered 30
	check "it is freed when that was answered" eventually 5 freed
	mark freed
}
freed() { [ "$(counter rmb-freed)" = 1 ]; }

client() {
	local i
	await up
	pup "puppet as client" -t 50 < <(
		links 3 3
		printf '%s\n' "set max_links=3 auto_rkey=1" "connect $PEER 5000" "first_contact until=add_link" "add_link 2" "add_link 3" accepted "tx data len=5"
		printf '%s\n' "let rkey1=%peer_rkey rkey2=%{2:peer_rmbs} rkey3=%{3:peer_rmbs}"
		for i in 2 3 4 5; do printf '%s\n' "conn c$i" "connect $PEER 5000" "reuse" "accepted" "tx data len=5"; done
		for i in 1 c2 c3 c4 c5; do printf '%s\n' "conn $i" "rx data len=5" "close"; done
		cat <<-E
			on 1 rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 10s
			on 2 rx llc delete_link reply=0 all=0 about=1 5s
			on 2 tx llc delete_link reply=1 about=1
			on 1 qp destroy
			on 2 rx llc delete_rkey reply=0 n=1 rkey1=%rkey2 5s
			on 3 rx llc delete_link reply=0 all=0 about=2 5s
			on 3 tx llc delete_link reply=1 about=2
			on 2 qp destroy
			rx none 300ms
			mark unanswered
			await again
			on 3 rx llc delete_rkey reply=0 n=1 rkey1=%rkey3 10s
			on 3 tx llc delete_rkey reply=1
			mark answered
			await freed
		E
	)
}
