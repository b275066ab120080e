# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer has five RMBs with elements of 32 KiB, the module one with elements of 16 KiB. ADD LINK
# CONTINUATION goes on until the side that has more has named all, and a connection whose element is
# in the last of them goes on over the new link.
#
# covers: LLC-36 LLC-39 RMB-04
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs, and again as a new RMB
# tags: puppet llc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=2 rmem=16384 t_lgr_idle=60000 t_link_retry=60000
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 send:20000 \
		await:broken send:5 recv:1=eof close slot:1 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" < <(
		cat <<-E
			$(links 2)
			set bsize=1
			connect $PEER 5000
			first_contact until=add_link
			rx llc add_link reply=0
			tx llc add_link reply=1
			accepted
			tx data len=5
			taken
		E
		for _ in {1..4}; do printf '%s\n' rmb "tx llc confirm_rkey" "rx llc confirm_rkey reply=1 negative=0"; done
		cat <<-E
			$(new 2)
			rx data len=20000
			link 1
			tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
			add_link 2 until=cont
			rx llc add_link_cont reply=0 about=2 n=1
			tx llc add_link_cont reply=1 about=2 n=5
			rx llc add_link_cont reply=0 about=2 n=0
			tx llc add_link_cont reply=1 about=2 n=3
			rx llc add_link_cont reply=0 about=2 n=0
			tx llc add_link_cont reply=1 about=2 n=1
			add_link 2 from=confirm_link
			on 2 tx llc test_link
			on 2 rx llc test_link reply=1
			on 1 qp err
			mark broken
			wait cdc has=F
			check rx_link 2
			on 2 rx llc delete_link reply=0 about=1 all=0
			on 2 tx llc delete_link reply=1 about=1
			rx data len=5
			move 2
			close
			conn 1
			move 2
			rx data len=5
			close
			check offences 0
		E
	)
}
