# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The link group of a connection: a Confirm that names no link or no RMB of it ends in RST
# and never in Decline; F=1 from a known server starts a parallel group; F=1 with the QP number of a
# live link means that the link is stale; a client with a new peer ID or another RNIC is a
# new peer, and one that uses another RNIC than it prefers is still known.
#
# covers: CLC-24 CLC-34 CLC-46 CLC-56 CLC-66
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:3 accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 recv:1=eof close slot:3 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		# a parallel group
		conn 2
		link 2
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		# both groups get more connections
		conn 3
		link 1
		accept
		reuse
		rx data len=5
		tx data len=5
		close
		conn 4
		link 2
		accept
		reuse
		rx data len=5
		tx data len=5
		close
		# F=1 with the QP number of link 1: the client tests the old link, and
		# drops that group when there is no answer
		set auto_test=0
		conn 5
		link 1
		accept
		rx proposal
		tx accept first=1
		rx confirm
		wait llc test_link reply=0
		conn 1
		rx rst
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		conn qpn
		connect $PEER 5000
		reuse until=confirm
		tx confirm qpn=^1
		rx rst
		conn gid
		connect $PEER 5000
		reuse until=confirm
		tx confirm gid=~
		rx rst
		conn mac
		connect $PEER 5000
		reuse until=confirm
		tx confirm mac=~
		rx rst
		conn rkey
		connect $PEER 5000
		reuse until=confirm
		tx confirm rkey=^1
		rx rst
		conn mtu
		connect $PEER 5000
		reuse until=confirm
		tx confirm bsize=7
		rx rst
		conn good
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		close
		# another host with this peer's ID gets a group of its own, and has no
		# effect on the first one
		conn other_mac
		link other
		connect $PEER 5000
		tx proposal mac=~
		rx accept first=1
		tx decline s=1
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		# another GID of the same RNIC: an IPv6 connection names one
		conn other_gid
		connect $PEER 5000
		tx proposal gid=~
		rx accept first=0
		tx decline s=0
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		# a host that always prefers one RNIC, and uses another
		set peer_id=5555525400000002
		conn prefers
		link 3
		connect $PEER 5000
		tx proposal mac=~
		rx accept first=1
		first_contact from=qp
		tx data len=5
		rx data len=5
		conn again
		link 3
		connect $PEER 5000
		tx proposal mac=~
		rx accept first=0
		tx confirm
		tx data len=5
		rx data len=5
		close
		conn prefers
		close
		# the same host after a restart is a new peer
		set peer_id=7777525400000002
		conn new
		link 2
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		conn 1
		rx data len=5
		close
	E

	fast t_llc=1000
	await up2
	app "client program" socket "connect:$PEER:5001" send:5 \
		slot:1 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket nonblock "connect:$PEER:5001=EINPROGRESS" slot:0 recv:1=ECONNRESET close
}
