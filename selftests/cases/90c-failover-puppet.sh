# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link group of two links, with a puppet at one end. Towards the module: F is obeyed,
# CDCs and WRITEs of a connection come over any link, in any order, and each direction has
# its own. From the module: when a link fails each connection, also an idle one, sends F
# first on the other link, then what may not have arrived, and goes on with the next
# number; the send buffer keeps that, and a program that waits for room goes on waiting. When
# a link is deleted in order, all has arrived before. When the last link is lost each
# connection is reset.
#
# covers: CDC-23 CONN-23 CONN-32 FO-07 FO-08 FO-15 FO-16 FO-20 CDC-06 CDC-09 LG-45 RMB-19 FO-06
# covers: FO-05 FO-23 FO-26
# module: ours none
# nics: 2/2
# timeout: 90
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet lgr links failover
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

more_moved() { [ "$(moved)" -gt "$1" ]; }

server() {
	local before
	at_once max_links=2 t_lgr_idle=60000
	smc_reset
	app_bg limit:40 socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:1 recv:20 send:20 recv:30 send:30 recv:40 recv:100 send:5 recv:100 send:5 recv:1=eof close \
		slot:2 send:5 recv:1=ECONNABORTED close \
		slot:3 accept:0 recv:5 slot:4 accept:0 recv:5 slot:5 accept:0 recv:5 \
		slot:3 send:3000 await:broken send:100 \
		recv:5 slot:4 recv:5 slot:5 recv:5 \
		slot:3 send:7 slot:4 send:8 slot:5 send:9 \
		recv:1=eof close slot:4 recv:1=eof close slot:3 recv:1=eof close
	app_end "server program"
	smc_was "server" 5 5
	eq "validation that failed" "$(counter cdc-validation)" 1
	eq "connections that have moved" "$(moved)" 2
	app_bg limit:40 socket listen:5002 mark:up2 slot:1 accept:0 recv:5 send:300 await:left send:6 recv:1=eof close
	app_end "server program, orderly"
	smc_reset
	fast t_clc=60000
	app_bg limit:40 socket listen:5003 mark:up3 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:1 recv:5 recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET close await:lost
	app_end "server program, the last link"
	smc_was "server, the last link" 2 2
	smc_reset
	before=$(moved)
	at_once max_links=2 t_lgr_idle=60000 t_testlink=0 t_llc=20000
	app_bg limit:40 socket sndbuf:32768 listen:5004 mark:up4 slot:1 accept:0 recv:5 nonblock fill=32768 mark:full \
		await:moved write:1=EAGAIN pollfor:OUT:100=none write:1=EAGAIN mark:kept \
		block send:32768 send:5 recv:1=eof close
	check "a full send buffer moves" eventually 30 more_moved "$before"
	mark moved
	app_end "server program, a full send buffer"
	smc_was "server, a full send buffer" 1 1
}

client() {
	await up
	pup "onto the module" <<-E
		$(two_link_group)
		$(new 2)

		# one direction per link: what the module sends stays where it is
		conn 1
		move 2
		tx data len=20
		rx data len=20
		check rx_link 1
		# without F, and from one to the other with each message
		link 1
		tx data len=10
		link 2
		tx data len=10
		link 1
		tx data len=10
		rx data len=30
		check rx_link 1
		# many F, with numbers that came just now or long ago
		link 2
		$(for ((n = 0; n < 200; n++)); do echo "tx cdc flags=F seq=%seq nowait"; done)
		tx cdc flags=F seq=%tx_ss
		link 1
		tx cdc flags=F seq=-1
		tx cdc flags=F seq=-30000
		# the old link goes on behind F
		tx data len=20
		link 2
		tx data len=20
		# F names a message that is under way: it comes just after that
		link 2
		let after=%seq
		tx cdc flags=F seq=+1 skip nowait
		link 1
		tx data len=60
		link 2
		tx data len=40
		rx data len=5
		# the same, and the message behind it is deferred when F comes again and names that
		link 1
		tx data len=60 quiet
		link 2
		tx data len=40 quiet
		tx cdc flags=F skip nowait
		tx cdc seq=+1
		tx cdc flags=F seq=-1
		link 1
		tx cdc seq=-2 prod=-40
		link 2
		rx data len=5
		close

		# what never comes was lost
		conn 2
		rx data len=5
		move 2
		tx cdc flags=F seq=+1 skip
		wait cdc has=A
		tx cdc flags=A
		rx rst

		# the module's links fail: it sends F on the other link
		$(new 3)
		$(new 4)
		$(new 5)
		conn 3
		rx data len=3000
		on 1 qp err
		mark broken
		conn 3
		wait cdc has=F
		check rx_link 2
		rx data len=100
		# this one was there before
		conn 5
		wait cdc has=F
		check rx_link 2
		# the server's request, disorderly, over the other link
		on 2 rx llc delete_link reply=0 about=1 all=0 orderly=0
		conn 3
		move 2
		tx data len=5
		conn 4
		move 2
		tx data len=5
		conn 5
		move 2
		tx data len=5
		on 2 tx llc delete_link reply=1 about=1
		conn 3
		rx data len=7
		conn 4
		rx data len=8
		conn 5
		rx data len=9
		close
		conn 4
		close
		conn 3
		close
		check offences 0
	E
	# a link goes orderly: what is on its way arrives first, and is not sent again
	await up2
	pup "a link goes orderly" <<-E
		$(links 2)
		connect $PEER 5002
		first_contact until=add_link
		add_link 2
		accepted
		tx data len=5
		taken
		rx data len=300
		let last=%peer_seq
		on 2 tx llc delete_link about=1 orderly=1 reason=0x20000
		wait cdc has=F seq=%last
		check rx_link 2
		on 2 rx llc delete_link reply=0 about=1 all=0 orderly=1
		on 2 tx llc delete_link reply=1 about=1
		on 1 qp destroy
		move 2
		mark left
		# F has taken no number
		rx cdc seq=2
		rx data len=6
		close
		check offences 0
	E
	# TCP ends with RST, which a peer that has lost nothing itself takes for an error; with
	# FIN it would be the end of data
	await up3
	pup "the last link is lost" <<-E
		$(links 2)
		connect $PEER 5003
		first_contact until=add_link
		add_link 2
		accepted
		tx data len=5
		taken
		$(new 2 5003)
		on 1 qp err
		conn 1
		wait cdc has=F
		check rx_link 2
		move 2
		tx data len=5
		on 2 rx llc delete_link reply=0 about=1 all=0 orderly=0
		on 2 tx llc delete_link reply=1 about=1
		# the server waits for the Confirm of a third one
		conn 3
		link 2
		connect $PEER 5003
		reuse until=confirm
		# one has moved, the other one has begun on this link and is idle
		on 2 qp err
		conn 1
		rx rst 10s
		conn 2
		rx rst 10s
		# behind the Accept of a reuse it does not decline
		conn 3
		rx none 100ms tcp
		tx confirm
		rx rst
		mark lost
	E
	await up4
	pup "a full send buffer is sent again" <<-E
		# receives for CONFIRM LINK, ADD LINK and CONTINUATION
		set rq=3 repost=0 bsize=2 peer_id=0002525400000002
		$(links 2)
		connect $PEER 5004
		first_contact until=add_link
		set rq=1
		add_link 2
		accepted
		tx data len=5
		await full
		# written, but its message has not been taken when the link fails; nor is
		# one taken on the other link
		sleep 200ms
		check cdcs 0
		on 1 qp err
		await kept
		on 2 qp receives 200
		on 2 rx llc delete_link reply=0 about=1 all=0 orderly=0
		wait cdc has=F
		check rx_link 2
		move 2
		on 2 tx llc delete_link reply=1 about=1
		rx data len=65541 consume
		close
		check offences 0
	E
}
