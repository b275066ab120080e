# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Decline in place of every CLC message, and in the LLC part of first contact: both sides
# go on with TCP at once, bytes behind the Decline are the application's, the value of the
# diagnosis has no effect, and a Decline without S leaves the link group alone. After one
# with S=1 the group is not offered to that host again, and is tested by TEST LINK,
# because another host may have sent the Decline (J-01 of the catalogue): if TEST LINK is
# answered the group goes on with its connections, else it ends. A declined first contact
# leaves its place to the next one.
#
# covers: CLC-08 CLC-11 CLC-36 CLC-52 CLC-54 CLC-55 CLC-59 CLC-60 CLC-64
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

ECHO=(accept:0 recv:5 send:5 recv:1=eof close)

server() {
	# --- the module is the server
	ip addr add 10.77.0.101/24 dev eth0
	fast t_llc=1000 max_first_contacts=1
	app_bg limit:60 socket listen:5000 mark:up slot:1 \
		"${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" \
		slot:2 accept:0 mark:first recv:5 \
		slot:1 "${ECHO[@]}" slot:2 send:5 recv:5 \
		slot:1 "${ECHO[@]}" slot:2 recv:5 send:5 slot:1 "${ECHO[@]}" slot:2 recv:1=eof close \
		slot:2 accept:0 mark:fifth recv:5 slot:1 "${ECHO[@]}" slot:2 recv:1=ECONNRESET close
	app_end "module as server"

	# an idle link is not tested here
	fast t_testlink=60000 max_first_contacts=256
	app_bg limit:40 socket listen:5002 mark:up3 slot:1 accept:0 recv:5 slot:2 "${ECHO[@]}" "${ECHO[@]}" slot:1 recv:1=ECONNRESET close
	app_end "module as server, a group that nobody knows"

	app_bg limit:40 socket listen:5003 mark:up4 slot:1 accept:0 recv:5 slot:2 "${ECHO[@]}" slot:1 recv:1=ECONNRESET close
	app_end "module as server, a group that is denied from elsewhere"

	# --- the puppet is the server
	pup_bg <<-'E'
		listen 5001
		mark up2
		# instead of Accept; the data in the same segment
		accept
		rx proposal
		tx decline diag=0xdeadbeef text="hello"
		rx app "world"
		tx fin
		rx eof
		# from now on bytes that look like CLC are data
		conn look
		accept
		rx proposal
		tx decline diag=0
		rx app "go"
		tx raw e2d4c3d904001c1012ab020000000c010000000100000000e2d4c3d9
		tx fin
		rx eof
		# byte by byte
		conn slowly
		accept
		rx proposal
		tx decline bytewise
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		# urgent data are TCP's
		conn urgent
		accept
		rx proposal
		tx decline
		rx app "go"
		tx oob "abU"
		rx app "xy"
		rx app "w"
		tx fin
		rx eof
		# instead of CONFIRM LINK
		conn late
		accept
		first_contact until=rts
		tx decline
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		# instead of ADD LINK, byte by byte
		conn later
		accept
		first_contact until=add_link
		tx decline bytewise
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		# a Decline in reuse, without S and with the diagnosis of one with S
		conn keep
		accept
		first_contact
		rx data len=5
		conn sync
		accept
		rx proposal
		tx decline s=0 diag=0x04000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		conn keep
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	pup_second_address
	await up
	pup "puppet as client" <<-E
		# instead of Proposal, then data at once
		connect $PEER 5000
		tx decline diag=0x12345678 add=0184078a0d
		rx none 1ms link
		rx app len=5
		tx fin
		rx eof
	E
	pup "instead of Confirm" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		tx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	pup "instead of Confirm, byte by byte" <<-E
		connect $PEER 5000
		tx proposal bytewise
		rx accept first=1
		tx decline bytewise
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	pup "instead of the CONFIRM LINK reply" <<-E
		connect $PEER 5000
		first_contact until=rts
		start
		tx decline diag=0
		tx app len=5
		rx app len=5
		elapsed 0ms 3s
		tx fin
		rx eof
	E
	pup "instead of the ADD LINK reply, byte by byte" <<-E
		connect $PEER 5000
		first_contact until=add_link_reply
		tx decline bytewise
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	pup "an ordinary Decline leaves the group alone, S=1 has it looked after" <<-E
		connect $PEER 5000
		first_contact
		tx data len=5
		# accept() returns them in the order in which their handshakes end
		await first
		conn 2
		connect $PEER 5000
		reuse until=confirm
		tx decline s=0 diag=0x04000000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn 1
		rx data len=5
		tx data len=5
		conn 3
		connect $PEER 5000
		reuse until=confirm
		set auto_test=0
		tx decline s=1
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		# whichever host has sent it: the link is tested, and answers
		conn 1
		tx data len=5
		rx data len=5
		rx llc test_link reply=0
		tx llc test_link reply=1
		# LLC messages are processed in order
		tx llc test_link
		rx llc test_link reply=1
		set auto_test=1
		# and the group goes on with its connections; new ones get another
		conn 4
		link 2
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		conn 1
		close
		# a link that does not answer ends with its connections
		conn 5
		link 2
		connect $PEER 5000
		reuse
		tx data len=5
		await fifth
		set auto_test=0
		conn 6
		link 2
		connect $PEER 5000
		reuse until=confirm
		tx decline s=1
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		rx llc test_link reply=0
		# meanwhile no new connection uses it
		conn 7
		link 3
		connect $PEER 5000
		tx proposal
		rx accept first=1
		tx rst
		conn 5
		rx rst
		rx down
	E

	await up3
	pup "S=1 has the link tested at once, and without an answer it ends" <<-E
		set peer_id=0003525400000002 auto_test=0
		conn 1
		connect $PEER 5002
		first_contact
		accepted
		tx data len=5
		# S=1 has that one reason: a Decline for another reason has S=0
		conn subnet
		connect $PEER 5002
		tx proposal net=10.99.0.0/24
		rx decline s=0 diag=0x03070000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn 2
		connect $PEER 5002
		reuse until=confirm
		rx none 200ms link
		tx decline s=1
		# nothing else on this link asks for a test
		rx llc test_link reply=0 2s
		# meanwhile that host is not offered the group at another address, either
		conn 3
		link 2
		connect 10.77.0.101 5002
		tx proposal
		rx accept first=1
		tx rst
		conn 2
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn 1
		rx rst 3s
		rx down
	E

	await up4
	pup "S=1 from an address that has not formed the group has the link tested, too" <<-E
		set peer_id=0004525400000002 auto_test=0
		conn 1
		connect $PEER 5003
		first_contact
		accepted
		tx data len=5
		conn 2
		connect 10.77.0.101 5003
		reuse until=confirm
		rx none 200ms link
		tx decline s=1
		rx llc test_link reply=0 2s
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn 1
		rx rst 3s
		rx down
	E

	await up2
	app "instead of Accept" socket "connect:$PEER:5001" recvtext:5=hello sendtext:world recv:1=eof close
	app "no CLC any more" socket "connect:$PEER:5001" sendtext:go recvhex:28=e2d4c3d904001c1012ab020000000c010000000100000000e2d4c3d9 recv:1=eof close
	app "slowly" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "urgent data" socket "connect:$PEER:5001" sendtext:go pollfor:pri:5000=PRI recvoob=U atmark=0 recvtext:2=ab atmark=1 \
		oob:xyZ sendtext:w recv:1=eof close
	app "instead of CONFIRM LINK" start socket "connect:$PEER:5001" elapsed:0:3000 send:5 recv:5 recv:1=eof close
	app "instead of ADD LINK" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "the group survives a Decline" \
		socket "connect:$PEER:5001" send:5 slot:1 \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		slot:0 recv:5 recv:1=eof close
}
