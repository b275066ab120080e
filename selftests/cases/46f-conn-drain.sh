# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Data that arrive while close() waits for its drain are never read, but they cause no
# abort, which would make the peer drop what it has not read yet (RFC 7609 4.8.1: unread
# data count when close() is called). They are consumed, so that two closers with full
# windows do not wait for each other, but they do not extend T_CLOSE for a peer that only
# writes.
#
# covers: CONN-05 CONN-06 CONN-21
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	# the window of the puppet is 16384 bytes
	fast t_close=2500 t_abort=30000 rmem=16384
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 send:5000 close mark:reply \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:window \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:full \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:never \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
	eq "of what came late nothing was an abort" "$(counter local-unread)" 0
	eq "T_CLOSE ran out for the one that took nothing" "$(counter timer-close)" 1
	eq "and it was aborted for that" "$(counter close-timeout)" 1
}

# last: what is left of 50000 bytes, and C, and no A
last() {
	printf '%s\n' "consume 16384" "rx data len=848" "wait cdc has=C hasnot=A" "tx cdc flags=C" \
		"rx eof" "tx fin"
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# a reply is written, its completion is late; the next request comes"
		cat <<-E
			let id=%peer_id
			conn reply
			set peer_id=0002525400000002 rq=2 repost=0
			link reply
			connect $PEER 5000
			first_contact
			tx data len=5
			await reply
			tx data len=100
			rx none 200ms tcp
			qp receives 100
			rx data len=5000
			wait cdc flags=C
			tx cdc flags=C
			rx eof
			tx fin
			conn 1
			set peer_id=%id rq=256 repost=1
			link 1
		E

		echo "# the same with a full window: all of it comes, then C"
		new window
		cat <<-E
			rx data len=16384
			await window
			tx data len=100
			consume 16384
			rx data len=16384
			tx data len=100
			consume 16384
			rx data len=16384
			$(last)
		E

		echo "# both windows are full, or nearly: what came late makes room for more"
		new full
		cat <<-E
			rx data len=16384
			await full
			tx data len=16000
			wait cdc cons=16005
			tx data len=1000
			tx cdc flags=B
			wait cdc cons=621 cons_wrap=1
			consume 16384
			rx data len=16384
			consume 16384
			rx data len=16384
			$(last)
		E

		echo "# it writes now and then, and takes nothing"
		new never
		echo "rx data len=16384"
		echo "await never"
		echo "start"
		for _ in 1 2 3 4; do
			printf '%s\n' "tx data len=3" "rx none 500ms tcp"
		done
		cat <<-E
			wait cdc has=A hasnot=C,D
			elapsed 2s 5s
			tx cdc flags=A
			rx rst
			conn 1
			rx data len=5
			close
		E
	)
}
