# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is the client, and one of its two RNICs is removed. The server puts off the orderly deletion that it
# is asked for. When the device goes the link has failed, and a disorderly request follows; the other link, which
# carried both, stays, and the connection goes on there.
#
# covers: LLC-51 LG-38
# module: none ours
# nics: 2/2
# timeout: 60
# kernels: umdbg um
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
		on 2 rx llc delete_link reply=0 all=0 orderly=0 about=1 3s
		wait cdc has=F
		check rx_link 2
		move 2
		delete_link 1
		# longer than the server may take for what has failed
		sleep 2s
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"
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
}
