# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The TCP connection below an SMC-R connection: a FIN is not the end of the data, and
# with D, before or after it, it is a half-close that may last; payload is a violation, and
# so are urgent data.
#
# covers: CONN-17 CONN-22 CONN-34 CONN-35
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_close=1000
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 await:fin send:5 recv:20 start recv:1=ECONNABORTED elapsed:300:5000 close \
		accept:0 recv:5 send:5 recv:5 recv:1=eof await:late close \
		accept:0 recv:5 recv:1=eof await:half send:5 close \
		accept:0 recv:5 recv:1=eof await:half2 send:5 close \
		accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		accept:0 recv:1=ECONNABORTED close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
	eq "payload was counted" "$(counter tcp-data)" 4
	eq "early FIN was counted" "$(counter tcp-fin)" 1

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		tx app "x"
		wait cdc has=A
		tx cdc flags=A
		rx rst
		conn 2
		accept
		reuse
		rx data len=5
		tx data len=5
		tx fin
		tx cdc flags=C
		wait cdc has=C
		rx eof
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# FIN only: SMC-R goes on for T_CLOSE, then A and RST"
		new fin
		cat <<-E
			tx fin
			mark fin
			start
			rx data len=5
			tx data len=20
			rx none 300ms
			wait cdc has=A 4s
			elapsed 700ms 4s
			tx cdc flags=A
			rx rst
		E
		echo "# FIN and then, in time, C; the program closes later than T_CLOSE"
		new late
		cat <<-E
			rx data len=5
			tx fin
			sleep 300ms
			tx data len=5
			tx cdc flags=C
			rx none 2s
			mark late
			wait cdc flags=C
			rx eof
		E
		echo "# D and FIN: half-closed for longer than T_CLOSE"
		new half
		cat <<-E
			tx cdc flags=D
			tx fin
			rx none 3s
			mark half
			rx data len=5
			wait cdc has=C
			tx cdc flags=C
			rx eof
		E
		echo "# the same, FIN first"
		new half2
		cat <<-E
			tx fin
			sleep 300ms
			tx cdc flags=D
			rx none 3s
			mark half2
			rx data len=5
			wait cdc has=C
			tx cdc flags=C
			rx eof
		E
		echo "# payload"
		new payload
		cat <<-E
			rx data len=5
			tx app "hello"
			wait cdc has=A
			tx cdc flags=A
			rx rst
		E
		echo "# urgent payload"
		new urgent
		cat <<-E
			rx data len=5
			tx oob "!"
			wait cdc has=A
			tx cdc flags=A
			rx rst
		E
		echo "# a CLC message has no business there, either"
		new clc
		cat <<-E
			rx data len=5
			tx decline
			wait cdc has=A
			tx cdc flags=A
			rx rst
		E
		echo "# payload in one segment with the Confirm: TCP reports nothing more"
		cat <<-E
			conn behind
			connect $PEER 5000
			reuse until=confirm
			tx confirm text=hello
			wait cdc has=A
			tx cdc flags=A
			rx rst
			conn 1
			rx data len=5
			close
		E
	)
	await up2
	app "client program: payload" socket "connect:$PEER:5001" send:5 recv:1=ECONNABORTED close
	app "client program: FIN before C" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
