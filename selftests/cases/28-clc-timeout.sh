# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer that goes silent anywhere in the handshake: the timer ends the TCP
# connection with RST, there is no fallback, and nothing is left behind.
#
# covers: CLC-13 CLC-62 LLC-10 LLC-23 LLC-26 LLC-32 LLC-34 CLC-37
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet clc llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_clc=1000 t_llc_first=1500
	app_bg limit:80 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "accept() returned only the good one"

	pup_bg <<-'E'
		listen 5001
		mark up2
		conn noaccept
		accept
		rx proposal
		start
		rx rst 5s
		elapsed 800ms 5s
		conn half
		accept
		rx proposal
		start
		qp create
		tx accept cut=67
		rx rst 5s
		elapsed 800ms 5s
		qp destroy
		conn confirmlink
		accept
		first_contact until=confirm
		rx confirm
		start
		qp rtr
		qp rts
		rx rst 5s
		elapsed 1200ms 5s
		qp destroy
		conn addlink
		accept
		first_contact until=add_link
		start
		rx rst 5s
		elapsed 1200ms 5s
		qp destroy
		# LLC completes, and the Decline that began before does not
		conn piece
		accept
		first_contact until=add_link
		# later than the waits before, whose timers may still run
		sleep 500ms
		tx raw e2
		start
		sleep 100ms
		tx llc add_link
		rx rst 5s
		elapsed 800ms 5s
		qp destroy
		conn good
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	fast t_clc=1000 t_llc_first=1500
	await up
	pup "puppet as client" <<-E
		conn noproposal
		connect $PEER 5000
		start
		rx rst 5s
		elapsed 800ms 5s
		conn half
		connect $PEER 5000
		tx proposal cut=51
		start
		rx rst 5s
		elapsed 800ms 5s
		conn noconfirm
		connect $PEER 5000
		first_contact until=qp
		start
		rx rst 5s
		elapsed 800ms 5s
		conn confirmlink
		connect $PEER 5000
		first_contact until=rts
		start
		rx rst 5s
		elapsed 1200ms 5s
		rx none 100ms link
		qp destroy
		conn addlink
		connect $PEER 5000
		first_contact until=add_link_reply
		start
		rx rst 5s
		elapsed 1200ms 5s
		qp destroy
		conn piece
		connect $PEER 5000
		first_contact until=add_link_reply
		sleep 500ms
		tx raw e2
		start
		sleep 100ms
		tx llc add_link reply=1
		rx rst 5s
		elapsed 800ms 5s
		qp destroy
		conn good
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
	E

	await up2
	app "no Accept" start socket "connect:$PEER:5001=ETIMEDOUT" elapsed:800:5000 close
	app "half an Accept" start socket "connect:$PEER:5001=ETIMEDOUT" elapsed:800:5000 close
	app "no CONFIRM LINK" start socket "connect:$PEER:5001=ETIMEDOUT" elapsed:1200:5000 close
	app "no ADD LINK" start socket "connect:$PEER:5001=ETIMEDOUT" elapsed:1200:5000 close
	app "a piece of a Decline" start socket "connect:$PEER:5001=ETIMEDOUT" elapsed:800:5000 close
	app "good" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
