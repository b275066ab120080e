# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Orderly ends, with a slow puppet: when each message is sent, and what the program sees
# (RFC 7609 4.8.1, Figure 22).
#
# covers: CDC-43 CDC-44 CONN-03 CONN-04 CONN-05 CONN-06 CONN-07 CONN-09 CONN-10 CONN-11 CONN-13 CONN-14 CONN-15 CONN-16 CONN-17 CONN-19 CONN-20 CONN-22
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_close=1000
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 recv:7 recv:1=eof pollfor:IN:1=IN send:100000 shut:wr await:a close \
		accept:0 recv:5 shut:wr recv:7 recv:1=eof mark:b close \
		accept:0 recv:5 shut:wr close mark:c \
		accept:0 recv:5 shut:wr recv:1=eof await:c2 close \
		accept:0 recv:5 send:100000 close mark:d \
		accept:0 recv:5 shut:rdwr close \
		accept:0 recv:5 shut:wr shut:rdwr await:w close \
		accept:0 recv:5 shut:rd recv:1=eof send:5 close \
		accept:0 recv:5 shut:wr shut:rd await:j recv:5 recv:1=eof close \
		accept:0 recv:5 shut:rd shut:wr await:k recv:5 recv:1=eof close \
		accept:0 recv:5 recv:1=eof send:5=EPIPE poll:0 close \
		accept:0 recv:5 sndbuf:200000 send:50000 await:f 'recv:1=eof|ECONNRESET' 'send:1=ECONNRESET|EPIPE' close \
		accept:0 recv:5 await:g pollfor:IN:5000=IN close \
		accept:0 recv:5 pollfor:PRI:5000=PRI close \
		accept:0 recv:5 await:h pollfor:RDHUP:5000=RDHUP close \
		accept:0 recv:5 await:i pollfor:RDHUP:5000=any close \
		accept:0 recv:5 shut:wr recv:10 recv:10 recv:10 recv:1=eof close \
		accept:0 recv:5 close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# D first, with the last data; the program sends on, more than fits, shuts down, then closes"
		new halfclose
		cat <<-E
			tx data len=7 flags=D
			rx data len=100000 consume
			wait cdc has=D hasnot=C
			rx none 200ms
			mark a
			rx cdc flags=D,C
			rx none 200ms
			tx cdc flags=D,C
			rx eof
			tx fin
		E

		echo "# the program shuts down first and still reads"
		new passive
		cat <<-E
			wait cdc flags=D
			tx data len=7
			tx cdc flags=C
			await b
			wait cdc has=C
			rx eof
			tx fin
		E

		echo "# shutdown, then close: C follows although we said nothing; nothing follows C"
		new both
		cat <<-E
			wait cdc flags=D
			await c
			wait cdc flags=D,C
			tx data len=5 flags=R
			rx none 200ms
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# the same when D has come meanwhile, in PeerCloseWait2"
		new both2
		cat <<-E
			wait cdc flags=D
			tx cdc flags=D
			rx none 200ms
			mark c2
			wait cdc flags=D,C
			rx none 200ms
			tx cdc flags=D,C
			rx eof
			tx fin
		E

		echo "# close with data on the way: all of it comes, then C; puppet slow"
		new pending
		cat <<-E
			await d
			check cdc hasnot=D,C
			rx none 1ms tcp
			rx data len=100000 consume
			wait cdc flags=C
			rx none 100ms
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# shutdown(RDWR) is close"
		new rdwr
		cat <<-E
			wait cdc flags=C
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# also after shutdown(WR): C comes before the program closes"
		new rdwr2
		cat <<-E
			wait cdc flags=D,C
			mark w
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# shutdown(RD) says nothing"
		new rd
		cat <<-E
			rx data len=5 keep
			wait cdc flags=C
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# nor does it when the program has sent D, nor before D"
		for i in j k; do
			new rd_$i
			cat <<-E
				wait cdc flags=D
				rx none 200ms
				tx data len=5
				rx none 200ms
				mark $i
				wait cdc flags=D,C
				tx cdc flags=C
				rx eof
				tx fin
			E
		done

		echo "# C first: nothing can be sent any more"
		new epipe
		cat <<-E
			tx cdc flags=C
			wait cdc has=C
			rx eof
			tx fin
		E

		echo "# C while data for us wait: nobody will read them"
		new pending2
		cat <<-E
			rx data len=16384
			check cdc has=B
			tx cdc flags=C
			# at once, and not when the program does something
			rx cdc has=A
			rx rst
			mark f
		E

		echo "# close with unread data, in Active"
		new unread
		cat <<-E
			tx data len=3
			mark g
			wait cdc has=A
			tx cdc flags=A
			rx rst
		E
		echo "# with an unread urgent byte, which counts as on TCP"
		new unread_oob
		cat <<-E
			tx data len=1 flags=P,U
			wait cdc has=A
			tx cdc flags=A
			rx rst
		E
		echo "# with unread data behind D: abort"
		new unread2
		cat <<-E
			tx data len=3
			tx cdc flags=D
			mark h
			wait cdc has=A
			tx cdc flags=D,A
			rx rst
		E
		echo "# with unread data behind C: dropped"
		new unread3
		cat <<-E
			tx data len=3
			tx cdc flags=C
			mark i
			wait cdc has=C hasnot=A
			rx eof
			tx fin
		E

		echo "# a half-closed connection lives as long as somebody reads: 3 x T_CLOSE"
		new longlife
		cat <<-E
			wait cdc flags=D
			sleep 1s
			tx data len=10
			sleep 1s
			tx data len=10
			sleep 1s
			rx none 10ms
			tx data len=10
			tx cdc flags=C
			wait cdc has=C
			rx eof
			tx fin
		E

		echo "# both at the same time"
		cat <<-E
			conn crossing
			connect $PEER 5000
			reuse
			accepted
			tx data len=5
			tx cdc flags=C
			wait cdc has=C
			rx eof
			tx fin
			conn 1
			rx data len=5
			close
		E
	)
}
