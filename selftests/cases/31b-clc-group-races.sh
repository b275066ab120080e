# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several handshakes of one peer at once: all but the first wait until its first contact
# is settled, none gets a link that does not exist, and one of them takes over if the
# first fails. Beside a full group there is a parallel one with elements of its own, or a
# Decline. A peer is identified by its ID and not by its address.
#
# covers: CLC-31 CLC-34 CLC-35 CLC-66 CLC-67 CLC-68 CLC-69 CLC-70 LG-52 RMB-03
# module: ours ours
# timeout: 100
# needs: synopt
# tags: puppet clc lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# together N: N connections, all accepted before any of them ends.
together() {
	local i
	for ((i = 1; i <= $1; i++)); do echo "slot:$i" accept:0 recv:5; done
	for ((i = 1; i <= $1; i++)); do echo "slot:$i" send:5; done
	for ((i = 1; i <= $1; i++)); do echo "slot:$i" recv:1=eof close; done
}

# shellcheck disable=SC2046
server() {
	app_bg limit:40 socket listen:5000 mark:up $(together 3) $(together 2)
	app_end "at once"

	fast max_conns_per_lgr=2
	app_bg limit:40 socket listen:5002 mark:up2 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:3 accept:0 recv:5 mark:read recv:1=ECONNRESET close slot:4 accept:0 recv:5 \
		slot:1 send:5 recv:1=eof close slot:2 send:5 recv:1=eof close slot:4 send:5 recv:1=eof close
	app_end "two connections per group"

	# four elements of this size are an RMB; the next connection needs another
	fast max_conns_per_lgr=0 max_rmbs_per_lgr=1 rmem=65536
	app_bg limit:40 socket listen:5003 mark:up3 $(together 5)
	app_end "one RMB per group"
	eq "nobody was declined for want of an element" "$(counter rmb-limit)" 0
	fast max_rmbs_per_lgr=255

	# --- the module is the client: two hosts behind one address, one behind two
	ip addr add 10.77.0.101/24 dev eth0
	pup_bg <<-'E'
		listen 5001
		mark up4
		set peer_id=0011525400000001
		conn a1
		accept
		first_contact
		rx data len=5
		# another host answers for the same address
		set peer_id=0022525400000001
		conn b1
		link 2
		accept
		first_contact
		rx data len=5
		# the first one again, by its second address
		set peer_id=0011525400000001
		conn a2
		link 1
		accept
		reuse
		rx data len=5
		tx data len=5
		close
		set peer_id=0022525400000001
		conn b2
		link 2
		accept
		reuse
		rx data len=5
		tx data len=5
		close
		# a link of one host with the other's peer ID: unknown
		conn c
		accept
		rx proposal
		tx accept first=0 peer_id=0011525400000001
		rx decline s=1
		tx close
		# the groups are not affected
		set peer_id=0011525400000001
		conn a1
		tx data len=5
		close
		conn b1
		tx data len=5
		close
	E
	pup_end "puppet as server"

	# an Accept names a group whose first contact is still under way at the client
	pup_bg <<-'E'
		listen 5004
		mark up5
		accept
		first_contact until=rts
		mark second
		conn 2
		accept
		rx proposal
		tx accept first=0
		rx none 300ms tcp
		# it fails: there is no such group
		conn 1
		tx decline
		conn 2
		rx decline s=1 diag=0x04000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		conn 1
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		conn 3
		link 2
		accept
		first_contact until=rts
		mark fourth
		conn 4
		accept
		rx proposal
		tx accept first=0
		rx none 300ms tcp
		# it succeeds
		conn 3
		first_contact from=rts
		conn 4
		reuse from=confirm
		rx data len=5
		tx data len=5
		close
		conn 3
		rx data len=5
		tx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server, first contact is under way"
}

client() {
	local i other=10.77.0.101
	await up
	pup "at once: the first one succeeds" < <(
		cat <<-E
			conn 1
			connect $PEER 5000
			tx proposal
			rx accept first=1
			let q=%peer_qpn
			qp create
			qp rtr
		E
		for i in 2 3; do printf '%s\n' "conn $i" "connect $PEER 5000" "tx proposal"; done
		cat <<-E
			rx none 300ms tcp
			conn 1
			tx confirm
			rx llc confirm_link
			qp rts
			tx llc confirm_link reply=1
			rx llc add_link
			# the link is confirmed, but first contact is not settled
			conn 2
			rx none 300ms tcp
			conn 1
			tx llc add_link reply=1
		E
		for i in 2 3; do printf '%s\n' "conn $i" "rx accept first=0 qpn=%q" "tx confirm"; done
		for i in 1 2 3; do printf '%s\n' "conn $i" "tx data len=5"; done
		for i in 1 2 3; do printf '%s\n' "conn $i" "rx data len=5"; done
		# which of them the program has accepted first is not known
		for i in 1 2 3; do printf '%s\n' "conn $i" "tx cdc flags=C"; done
		for i in 1 2 3; do printf '%s\n' "conn $i" "wait cdc has=C" "tx fin" "rx eof" "tx close"; done
	)
	pup "at once: the first one gives up" <<-E
		set peer_id=0002525400000002
		conn 1
		connect $PEER 5000
		tx proposal
		rx accept first=1
		conn 2
		connect $PEER 5000
		tx proposal
		rx none 300ms tcp
		# no other connection is declined or reset for that
		conn 1
		tx rst
		# the other one makes the first contact now
		conn 2
		rx accept first=1
		let q=%peer_qpn
		first_contact from=qp
		accepted
		tx data len=5
		conn 3
		connect $PEER 5000
		tx proposal
		rx accept first=0 qpn=%q
		tx confirm
		tx data len=5
		rx data len=5
		conn 2
		rx data len=5
		close
		conn 3
		close
	E

	await up2
	pup "a parallel group" <<-E
		set peer_id=0003525400000002
		conn 1
		connect $PEER 5002
		first_contact
		accepted
		tx data len=5
		let rkey=%peer_rkey va=%peer_va qpn=%peer_qpn
		conn 2
		connect $PEER 5002
		reuse
		accepted
		tx data len=5
		# two connections fill the group
		conn 3
		link 2
		connect $PEER 5002
		first_contact until=confirm
		tx confirm
		# own RMB, own queue pair, the complete first contact
		rx llc confirm_link reply=0 qpn!=%qpn
		qp rts
		tx llc confirm_link reply=1
		rx llc add_link
		tx llc add_link reply=1
		tx data len=5
		# what is unread when the connection ends is lost
		await read
		write off=0 len=5 rkey=%rkey va=%va expect=err
		rx rst
		qp destroy
		conn 4
		link 3
		connect $PEER 5002
		first_contact
		tx data len=5
		# the old group goes on
		conn 1
		rx data len=5
		close
		conn 2
		rx data len=5
		close
		conn 4
		rx data len=5
		close
	E

	await up3
	pup "a full group" < <(
		cat <<-E
			set peer_id=0004525400000002
			conn 1
			connect $PEER 5003
			first_contact
			accepted
			tx data len=5
		E
		for i in 2 3 4; do printf '%s\n' "conn $i" "connect $PEER 5003" "reuse" "accepted" "tx data len=5"; done
		# no element, and no other RMB: a parallel group (RFC 7609 3.5.3)
		printf '%s\n' "conn 5" "link 2" "connect $PEER 5003" "first_contact" "tx data len=5"
		for i in 1 2 3 4 5; do printf '%s\n' "conn $i" "rx data len=5"; done
		for i in 1 2 3 4 5; do printf '%s\n' "conn $i" "close"; done
	)
	await up4
	app "client program" slot:1 socket "connect:$PEER:5001" send:5 \
		slot:2 socket "connect:$PEER:5001" send:5 \
		slot:3 socket "connect:$other:5001" send:5 recv:5 recv:1=eof close \
		slot:3 socket "connect:$other:5001" send:5 recv:5 recv:1=eof close \
		slot:3 socket "connect:$PEER:5001" recv:1=eof close \
		slot:1 recv:5 recv:1=eof close slot:2 recv:5 recv:1=eof close
	await up5
	for i in second fourth; do
		app "the $i connection waits" slot:1 socket nonblock "connect:$PEER:5004=EINPROGRESS" "await:$i" \
			slot:2 socket "connect:$PEER:5004" send:5 recv:5 recv:1=eof close \
			slot:1 block send:5 recv:5 recv:1=eof close
	done
}
