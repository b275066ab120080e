# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is the client, and one of its two RNICs is removed. The server defers the
# orderly deletion that it is asked for. When the device is removed the link has failed,
# and a disorderly request follows; the other link, which carried both, stays, and the
# connection goes on there. Messages of the server over the ending link are ignored
# meanwhile, but for the end of the group.
#
# covers: LLC-51 LLC-54 LG-38
# module: none ours
# nics: 2/2
# timeout: 60
# needs: uml
# why: its times are tried on UML only, and an emulated processor takes four times as long
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-E
		$(links 2)
		listen 5000
		mark up
		accept
		first_contact until=add_link
		add_link 2
		rx data len=5
		tx data len=5
		mark go
		on 2 rx llc delete_link reply=0 all=0 orderly=1 about=1 3s
		on 1 tx llc confirm_rkey
		on 1 tx llc delete_rkey n=1 rkey1=0x99
		on 1 tx llc delete_link link=77
		rx none 300ms link
		on 2 rx llc delete_link reply=0 all=0 orderly=0 about=1 3s
		wait cdc has=F
		check rx_link 2
		move 2
		delete_link 1
		# longer than the server has for the deletion of a failed link
		sleep 2s
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"

	pup_bg <<-E
		$(links 2)
		listen 5000
		mark up2
		accept
		first_contact until=add_link
		add_link 2
		rx data len=5
		mark go2
		on 2 rx llc delete_link reply=0 all=0 orderly=1 about=1 3s
		on 1 tx llc delete_link all=1 link=0 reason=0x20000 expect=gone
		# before the device is removed, and long before a missing answer is noticed
		rx rst 700ms
		check offences 0
	E
	pup_end "the end of the group is heard over the link that is to go"
}

client() {
	fast max_links=2 t_llc=400 t_lgr_idle=60000 t_testlink=3600000 t_link_retry=3600000
	await up
	app_bg limit:30 socket "connect:$PEER:5000" send:5 recv:5 recv:5 send:5 recv:1=eof close
	await go
	bg rnic_delete 0
	check "the device goes" eventually 6 no_rnic 0
	app_end "client program"
	rnic_add 0
	check "the device is back" eventually 10 rnic_usable 0
	await up2
	app_bg limit:30 socket "connect:$PEER:5000" send:5 recv:1=ECONNRESET close
	await go2
	bg rnic_delete 0
	app_end "client program, the group ends"
	check "the device goes, too" eventually 6 no_rnic 0
	rnic_add 0
}
