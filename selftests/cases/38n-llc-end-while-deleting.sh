# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server is deleting one of two links, and has no reply yet, when the client asks it to
# delete the whole group. It sends DELETE LINK of all, which has no answer, and frees the
# group when that is delivered, before T_LLC. Before that TEST LINK is answered, also over
# the link that is to go.
#
# covers: LLC-05 LLC-70 LLC-78 LLC-81
# module: ours none
# nics: 2/2
# timeout: 30
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	fast max_links=2 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 recv:1=ECONNRESET close
	await over
	check "the group is freed" eventually 5 no_group
	mark freed
	app_end "server program"
	eq "links that failed" "$(counter link-down)" 0
}

client() {
	await up
	pup "puppet as client" <<-E
		$(two_link_group)
		tx llc delete_link about=2 orderly=1 reason=0x20000
		rx llc delete_link reply=0 all=0 about=2
		tx llc test_link data=000102030405060708090a0b0c0d0e0f
		rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f
		on 2 tx llc test_link data=101112131415161718191a1b1c1d1e1f
		on 2 rx llc test_link reply=1 data=101112131415161718191a1b1c1d1e1f
		tx llc delete_link all=1 orderly=1 reason=0x20000 expect=gone
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x20000
		start
		rx rst
		mark over
		await freed
		elapsed 0ms 1500ms
		rx down
	E
}
