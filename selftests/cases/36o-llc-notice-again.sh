# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is the client. Over the first of three links it asks the server to delete the
# third, and nothing follows: after twice T_LLC the first counts as dead, too, and the
# client asks for both deletions over the second.
#
# covers: LLC-51
# module: none ours
# nics: 3/3
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-E
		$(links 3 3)
		set max_links=3
		listen 5000
		mark up
		accept
		first_contact until=add_link
		add_link 2
		add_link 3
		rx data len=5
		tx data len=5
		# an unknown message
		on 3 tx send 002c$(printf '00%.0s' {1..42}) expect=gone
		on 1 rx llc delete_link reply=0 all=0 orderly=0 about=3 reason=0x40000
		start
		on 2 rx llc delete_link reply=0 all=0 orderly=0 about=3 reason=0x40000 4s
		elapsed 1300ms 2000ms
		on 2 rx llc delete_link reply=0 all=0 orderly=0 about=1 reason=0x10000
		wait cdc has=F
		check rx_link 2
		move 2
		delete_link 3
		delete_link 1
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	fast max_links=3 t_llc=700 t_lgr_idle=60000 t_testlink=3600000 t_link_retry=3600000
	await up
	app "client program" limit:30 socket "connect:$PEER:5000" send:5 recv:5 recv:5 send:5 recv:1=eof close
	eq "connections moved" "$(counter conn-moved)" 1
}
