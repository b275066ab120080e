# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# shutdown() and connect(AF_UNSPEC) of a client in a handshake return at once, whatever
# the handshake waits for; the socket can be used again.
#
# covers: CONN-38
# module: none ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

client() {
	await up
	# 0: first contact, the peer owes CONFIRM LINK. 1: the group that 0 forms.
	# 2: nothing at all from the peer.
	app "give up" socket nonblock "connect:$PEER:5001=EINPROGRESS" await:one \
		slot:1 socket nonblock "connect:$PEER:5001=EINPROGRESS" await:two \
		slot:2 socket nonblock "connect:$PEER:5001=EINPROGRESS" await:three sleep:300 \
		slot:1 poll:0=none start shut:rdwr elapsed:0:2000 \
		slot:2 poll:0=none start disconnect elapsed:0:2000 \
		slot:0 poll:0=none start disconnect elapsed:0:2000 \
		await:four slot:1 block "connect:$PEER:5002" send:5 recv:5 close \
		slot:2 block "connect:$PEER:5002" send:5 recv:5 close \
		slot:0 close
	# the fourth is the group that had its first contact
	eq "given up" "$(counter neg-aborted)" 4
}

server() {
	pup_bg <<-'E'
		listen 5001
		mark up
		accept
		first_contact until=confirm_link
		mark one
		conn 2
		accept
		reuse until=confirm
		mark two
		conn 3
		accept
		rx proposal
		mark three
		conn 2
		rx end
		conn 3
		rx end
		conn 1
		rx end
		qp destroy
		conn 4
		listen 5002
		mark four
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		conn 5
		accept
		reuse
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet"
}
