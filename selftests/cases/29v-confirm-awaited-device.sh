# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The server waits for the Confirm of a connection that joins a group with two links. The
# RDMA device is removed meanwhile that the link in its Accept, and TCP's route, use. The
# removal does not wait for the client. The Confirm names the other link, and the
# connection uses that: the server sends F there, and data flow.
#
# covers: FO-23 MISC-16
# module: ours none
# nics: 2/2
# timeout: 60
# needs: uml
# why: its times are tried on UML only, and an emulated processor takes four times as long
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet clc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=2 t_clc=60000 t_lgr_idle=60000 t_link_retry=3600000
	app_bg limit:50 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:3 accept:0 recv:5 send:5 recv:1=eof close slot:2 recv:1=eof close slot:1 recv:1=eof close
	await waits
	bg rnic_delete 0
	check "the device goes" eventually 6 no_rnic 0
	mark gone
	app_end "server program"
	poll 10 no_rnic 0 || fail "the device stays"
	rnic_add 0
}

client() {
	await up
	pup "puppet as client" <<-E
		$(two_link_group)
		# as many connections on each link: the next one is on the first
		conn 2
		connect $PEER 5000
		link 2
		reuse
		accepted
		tx data len=5
		taken
		conn 3
		link 1
		connect $PEER 5000
		reuse until=accept
		rx accept first=0 mac=525400000001
		mark waits
		on 2 rx llc delete_link reply=0 all=0 about=1
		on 2 tx llc delete_link reply=1 about=1
		conn 1
		wait cdc has=F
		check rx_link 2
		move 2
		await gone
		conn 3
		link 2
		tx confirm
		accepted
		wait cdc has=F
		check rx_link 2
		tx data len=5
		rx data len=5
		on 1 qp destroy
		close
		conn 2
		close
		conn 1
		close
		check offences 0
	E
}
