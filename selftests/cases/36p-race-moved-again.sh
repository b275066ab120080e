# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is the client of a group with three links. The first is to be deleted in
# order, and stays, because the server loses the second. Data that the first link's
# connection has sent are delivered only then: the event that the connection has left the
# link is outdated when the group's work, which a latch holds, gets the next request to
# delete the link. The reply to that is sent when all data sent meanwhile are delivered,
# too, and not before.
#
# covers: FO-16
# module: none ours
# nics: 3/3
# timeout: 60
# needs: uml latch
# why: its times are tried on UML only, and an emulated processor takes four times as long
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet race llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	pup_bg <<-E
		link 2 of 1
		nic $(rnic 1)
		link 3 of 1
		nic $(rnic 2)
		link 1
		set rq=16 max_links=3
		listen 5000
		mark up
		accept
		first_contact until=add_link
		add_link 2
		add_link 3
		tx data len=5
		rx data len=5
		check rx_link 1
		set repost=0
		mark go
		await sent
		on 3 tx llc delete_link about=1 orderly=1 reason=0x20000
		sleep 100ms
		on 1 tx llc delete_link about=2 orderly=0 reason=0x10000
		await stays
		# as many as what was sent before needs, and the answer about the second link
		on 1 qp receives 25
		on 1 rx llc delete_link reply=1 about=2
		on 2 qp destroy
		rx data len=40
		await again
		on 3 tx llc delete_link about=1 orderly=1 reason=0x20000
		mark asked
		await heard
		rx none 500ms link
		on 1 qp receives 100
		on 3 rx llc delete_link reply=1 about=1
		on 1 qp destroy
		rx data len=40
		move 3
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	local i calls=()
	fast max_links=3 t_llc=16000 t_testlink=0 t_lgr_idle=60000 t_link_retry=3600000
	await up
	for i in {1..40}; do calls+=(send:1); done
	app_bg limit:40 socket nodelay:1 "connect:$PEER:5000" recv:5 send:5 await:go "${calls[@]}" mark:sent \
		await:held "${calls[@]}" mark:again recv:1=eof close
	says "the first link stays" '.status' 'active gone active'
	latch llc-work
	mark stays
	holds llc-work
	mark held
	await asked
	nap 0.1
	unlatch llc-work
	mark heard
	app_end "client program"
}
