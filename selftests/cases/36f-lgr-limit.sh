# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The number of link groups is bounded: beyond max_lgrs the group that has been without a
# connection for longest ends, and its peer is notified. If all are in use a first contact
# is declined, and connections of known peers go on. The reason is inactivity, or the
# operator if a client ends the group: inactivity is a server's reason.
#
# covers: SEC-13 LG-38 LLC-48 CLC-53
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

ECHO=(accept:0 recv:5 send:5 recv:1=eof close)

conns() { [ $(($(counter conn-created) - $(counter conn-freed))) = "$1" ]; }
groups() { [ $(($(counter lgr-created) - $(counter lgr-freed))) = "$1" ]; }

server() {
	local i
	fast max_lgrs=2
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 "${ECHO[@]}" "${ECHO[@]}" \
		accept:0 recv:5 slot:3 "${ECHO[@]}" "${ECHO[@]}" \
		slot:2 send:5 recv:1=eof close await:gone4 slot:1 send:5 recv:1=eof close \
		slot:2 "${ECHO[@]}"
	# a group is idle only when the connection of the peer that ended before is freed
	for i in 2 3 4; do
		await "come$i" 40
		check "one connection is left before peer $i" eventually 10 conns 1
		mark "room$i"
	done
	await end4 40
	check "the connection of peer 4 is gone" eventually 10 conns 1
	mark gone4
	await end1 40
	check "and that of peer 1 after it" eventually 10 conns 0
	mark room6
	app_end "server program"
	check "two groups are left" test "$("$SMCCTL" -j linkgroup | jq '[.. | objects | select(has("lgr-id"))] | length')" -le 2

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		set peer_id=0002525400000001
		conn 2
		link 2
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		conn 1
		link 1
		rx llc delete_link reply=0 all=1 link=0 reason=0x20000
		rx down
		# the next one is in use: no room for another
		set peer_id=0003525400000001
		conn 3
		link 3
		accept
		first_contact
		rx data len=5
		set peer_id=0004525400000001
		conn 4
		link 4
		accept
		rx proposal
		qp create
		tx accept first=1
		rx decline s=0 diag=0x06090000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		conn 3
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

peer() {
	[ "$1" = 1 ] || printf '%s\n' "mark come$1" "await room$1"
	host "$1"
	echo "accepted"
}

client() {
	await up
	pup "groups of six peers" < <(
		peer 1			# keeps its connection
		peer 2
		done5
		# in place of the idle one
		peer 3
		done5
		echo "conn 2"
		echo "link 2"
		echo "rx llc delete_link reply=0 all=1 link=0 reason=0x30000"
		echo "rx down"
		peer 4			# keeps its connection, too
		cat <<-E
			conn 3
			link 3
			rx llc delete_link reply=0 all=1 link=0 reason=0x30000
			rx down
			# no room
			set peer_id=0005525400000002
			conn 5
			connect $PEER 5000
			tx proposal
			rx decline s=0 diag=0x06090000
			tx app len=5
			rx app len=5
			tx fin
			rx eof
			# a known peer needs none
			set peer_id=0001525400000002
			conn 1b
			link 1
			$(new 1b; done5)
			conn 4
			link 4
			$(done5)
			mark end4
			conn 1
			link 1
			$(done5)
			# both are idle now: the one that has been idle for longer ends,
			# not the older one
			mark end1
			await room6
			$(host 6)
			accepted
			conn 4
			link 4
			rx llc delete_link reply=0 all=1 link=0 reason=0x30000
			rx down
			conn 6
			link 6
			$(done5)
		E
	)

	await up2
	fast max_lgrs=1
	app "the group of a client" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	check "it is idle" eventually 10 conns 0
	app "another server" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	check "that is idle, too" eventually 10 conns 0
	check "and the only one" eventually 10 groups 1
	app "no room for a third server's" slot:1 socket "connect:$PEER:5001" send:5 \
		slot:2 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close slot:1 recv:5 recv:1=eof close
}
