# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The owner prepares an element before it names it in Accept, and only reads it from then
# on: damage to the eye catcher by the peer between Accept and the connection's start is
# detected and not repaired, and data that the peer wrote are still there in the next lap
# of the ring. If the two sides agree on none, the eye catcher of the first element is
# cleared, but nothing that the peer has written there by then.
#
# covers: RMB-12 RMB-13 RMB-14 RMB-15 RMB-16
# module: ours none
# timeout: 30
# needs: synopt
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

b77=$(printf '77%.0s' {1..60})
zeros=$(printf '00%.0s' {1..60})

server() {
	fast rmem=16384
	# those in between are not the test stream either
	app_bg limit:25 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:1=ECONNABORTED close \
		slot:2 accept:0 "recvhex:60=$b77" recvsome:16320=WRONG-DATA send:5 "recvhex:60=$b77" send:5 recv:1=eof close \
		slot:1 send:5 recv:1=eof close \
		accept:0 recv:1=ECONNABORTED close \
		accept:0 recv:1=ECONNABORTED close \
		accept:0 "recvhex:60=$b77" send:5 recv:1=eof close \
		accept:0 "recvhex:60=$zeros" send:5 recv:1=eof close
	app_end "server program"
	eq "damage was counted" "$(counter rmbe-eye-catcher)" 3
}

client() {
	await up
	pup "between Accept and Confirm" <<-E
		set no_eye=0
		conn 1
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		conn 2
		connect $PEER 5000
		reuse until=confirm
		write off=0 len=4 byte=00
		tx confirm
		tx data len=5
		wait cdc has=A
		tx cdc flags=A
		rx rst
		# all of the element is written, and announced little by little, twice
		conn 3
		connect $PEER 5000
		reuse
		write off=4 len=16380 byte=77
		tx cdc advance=60
		tx cdc advance=16320
		rx data len=5
		tx cdc advance=60
		rx data len=5
		close
		conn 1
		rx data len=5
		close
		qp destroy
	E
	# the link is up before the connection is
	pup "between Accept and CONFIRM LINK" <<-E
		set no_eye=0 peer_id=0002525400000002
		connect $PEER 5000
		first_contact until=confirm_link_reply
		write off=0 len=4 byte=00
		tx llc confirm_link reply=1
		rx llc add_link
		tx llc add_link reply=1
		tx data len=5
		wait cdc has=A
		tx cdc flags=A
		rx rst
		qp destroy
	E
	# the data are there before the connection is
	pup "before the answer to ADD LINK" <<-E
		set no_eye=0 peer_id=0003525400000002
		connect $PEER 5000
		first_contact until=confirm_link_reply
		write off=0 len=4 byte=00
		tx llc confirm_link reply=1
		rx llc add_link
		tx data len=5
		tx llc add_link reply=1
		wait cdc has=A
		tx cdc flags=A
		rx rst
		qp destroy
	E
	pup "no eye catcher, and data before CONFIRM LINK" <<-E
		set peer_id=0004525400000002
		connect $PEER 5000
		first_contact until=confirm_link_reply
		write off=0 len=60 byte=77
		first_contact from=confirm_link_reply
		tx cdc advance=60
		rx data len=5
		close
		qp destroy
	E
	pup "no eye catcher, and nothing was written" <<-E
		set peer_id=0005525400000002
		connect $PEER 5000
		first_contact
		tx cdc advance=60
		rx data len=5
		close
		qp destroy
	E
}
