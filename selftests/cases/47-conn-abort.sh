# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Abnormal ends (RFC 7609 4.8.2, Figure 23): A in every state, TCP resets,
# linger 0, and peers that do not answer.
#
# covers: CDC-45 CONN-21 CONN-23 CONN-26 CONN-27 CONN-28 CONN-30
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# The last one: the puppet's A may overtake the reader, whose data it drops.
server() {
	fast t_close=1000 t_abort=800
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 recv:1=ECONNRESET recv:1=eof send:1=EPIPE close \
		accept:0 recv:5 sndbuf:300000 await:full fill await:blocked fill mark:go send:100000=ECONNRESET close \
		accept:0 recv:5 set:TCP_USER_TIMEOUT:1000 sndbuf:200000 send:40000 recv:1=ETIMEDOUT close \
		accept:0 recv:5 await:unread recv:1=ECONNRESET close \
		accept:0 recv:5 shut:wr recv:1=ECONNRESET close \
		accept:0 recv:5 recv:1=eof mark:eof pollfor:ERR:3000=ERR,HUP\|IN,ERR,HUP,RDHUP\|ERR,HUP,RDHUP 'send:1=EPIPE|ECONNRESET' close \
		accept:0 recv:5 close mark:closed \
		accept:0 recv:5 linger:0 close \
		accept:0 recv:5 linger:0 close mark:silent \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		accept:0 recv:5 close mark:noanswer \
		accept:0 'recv:5=5|ECONNRESET' linger:0 close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
	eq "T_ABORT ran out" "$(counter timer-abort)" 1
	eq "T_CLOSE ran out" "$(counter timer-close)" 1
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# Active, the program sleeps in recv()"
		new active
		cat <<-E
			rx none 100ms
			tx cdc flags=A
			rx cdc has=A
			rx rst
		E

		echo "# Active, the program sleeps in send()"
		new sending
		cat <<-E
			mark full
			rx data len=16384
			mark blocked
			await go
			sleep 100ms
			tx cdc flags=A
			wait cdc has=A
			rx rst
			# no write after it
			fill
			sleep 100ms
			check untouched
		E

		echo "# the window stays closed for TCP_USER_TIMEOUT"
		new stalled
		cat <<-E
			rx data len=16384
			wait cdc has=A
			rx rst
			tx cdc flags=A
		E

		echo "# data that nobody read are dropped"
		new unread
		cat <<-E
			tx data len=100
			tx cdc flags=A
			wait cdc has=A
			rx rst
			mark unread
		E

		echo "# PeerCloseWait1 after D"
		new pcw
		cat <<-E
			wait cdc flags=D
			tx cdc flags=A
			rx cdc flags=D,A
			rx rst
		E

		echo "# AppCloseWait1"
		new acw
		cat <<-E
			tx cdc flags=D
			await eof
			tx cdc flags=D,A
			rx cdc has=A
			rx rst
		E

		echo "# after the module's C: no A comes"
		new afterc
		cat <<-E
			wait cdc flags=C
			await closed
			tx cdc flags=A
			rx none 200ms link
			rx end
		E

		echo "# linger 0: A and RST; our A ends it"
		new linger
		cat <<-E
			rx cdc has=A
			rx rst
			# ignored
			tx data len=5
			tx cdc flags=A
			rx none 200ms link
		E

		echo "# no answer to A: T_ABORT"
		new silent
		cat <<-E
			rx cdc has=A
			rx rst
			rx none 1500ms link
		E

		echo "# RST of TCP without a word"
		new rst
		cat <<-E
			rx data len=5
			tx rst
			rx cdc has=A
			tx cdc flags=A
			rx none 200ms link
		E

		echo "# no answer to C: T_CLOSE, then RST, and nothing more"
		new noanswer
		cat <<-E
			wait cdc flags=C
			start
			rx rst 4s
			elapsed 800ms 4s
			# the token has no connection any more
			tx data len=5
			rx none 300ms link
		E

		echo "# both abort"
		cat <<-E
			conn crossing
			connect $PEER 5000
			reuse
			accepted
			tx data len=5
			tx cdc flags=A
			rx cdc has=A
			rx rst
			conn 1
			rx data len=5
			close
		E
	)
}
