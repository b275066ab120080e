# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A forger makes a whole group with another host's peer ID, from an address of its own.
# The host is offered that group once, declines with S=1, and makes its own, which it is
# offered from then on. A host that has a group already is not offered the forger's, and
# an S=1 from another address does not separate it from its group.
#
# covers: SEC-11
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

ECHO=(accept:0 recv:5 send:5 recv:1=eof close)

server() {
	ip addr add 10.77.0.101/24 dev eth0
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:4 "${ECHO[@]}" \
		slot:2 accept:0 recv:5 slot:4 "${ECHO[@]}" slot:1 send:5 recv:1=eof close slot:2 send:5 recv:1=eof close
	app_end "server program 1"
	app_bg limit:30 socket listen:5002 mark:up2 slot:1 accept:0 recv:5 slot:4 "${ECHO[@]}" \
		slot:2 accept:0 recv:5 slot:4 "${ECHO[@]}" slot:1 send:5 recv:1=eof close slot:2 send:5 recv:1=eof close
	app_end "server program 2"
}

# declined: what runs over TCP after S=1
declined() { printf '%s\n' "tx decline s=1" "tx app len=5" "rx app len=5" "tx fin" "rx eof"; }
ends() { printf '%s\n' "rx data len=5" close; }

client() {
	pup_second_address
	await up
	pup "a host is offered another's group once" <<-E
		set peer_id=0001525400000002
		conn forger
		link 1
		connect 10.77.0.101 5000
		first_contact
		tx data len=5
		# TEST LINK is answered
		conn host
		link 2
		connect $PEER 5000
		tx proposal
		rx accept first=0
		$(declined)
		conn host2
		link 2
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		conn host3
		link 2
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		close
		conn forger
		$(ends)
		conn host2
		$(ends)
	E
	await up2
	pup "a host that has a group gets no other's, whoever denies its own" <<-E
		set peer_id=0002525400000002 auto_test=0
		conn host
		link 1
		connect $PEER 5002
		first_contact
		accepted
		tx data len=5
		conn forger
		link 1
		connect 10.77.0.101 5002
		reuse until=confirm
		$(declined)
		# the link is being tested, and has not answered yet
		rx llc test_link reply=0
		conn forger2
		link 2
		connect 10.77.0.101 5002
		first_contact
		accepted
		tx data len=5
		conn host2
		link 1
		connect $PEER 5002
		reuse
		tx data len=5
		rx data len=5
		close
		conn host
		$(ends)
		conn forger2
		$(ends)
	E
}
