# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Keepalive in a group of two links: the link of the connection with SO_KEEPALIVE is tested
# each time that it has been idle for long enough, and the other link, whose connection has
# no keepalive, is not tested. When the peer no longer answers, the connection moves to the
# other link, which is tested from then on; when that does not answer either, all
# connections of the group end.
#
# covers: CONN-33 KA-02
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc keepalive links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local k=$SLOW
	fast t_testlink=0 t_llc=2000 t_link_retry=86400000 max_links=2
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 send:5 await:on \
		slot:1 keepalive:$k:$k:2 recv:1=ETIMEDOUT close slot:2 recv:1=ETIMEDOUT close
	app_end "server program"
	eq "links that failed" "$(counter link-down)" 2
}

client() {
	local i
	await up
	pup "a peer that falls silent" < <(
		cat <<-E
			set auto_test=0
			$(two_link_group)
			$(new 2)
			rx data len=5
			check rx_link 2
			mark on
		E
		for i in {1..4}; do printf '%s\n' "on 1 rx llc test_link reply=0 3s" "on 1 tx llc test_link reply=1"; done
		cat <<-E
			# two probes without an answer, and the link is lost
			on 1 rx llc test_link reply=0 3s
			on 1 rx llc test_link reply=0 3s
			conn 1
			wait cdc has=F 5s
			check rx_link 2
			on 2 rx llc delete_link reply=0 about=1 all=0 orderly=0
			on 2 tx llc delete_link reply=1 about=1
			on 2 rx llc test_link reply=0 3s
			on 2 rx llc test_link reply=0 3s
			rx rst 5s
			conn 2
			rx rst 5s
		E
	)
}
