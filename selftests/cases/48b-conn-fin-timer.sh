# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP's FIN alone gives the peer T_CLOSE for its D, C or A. The application closes 200 ms
# before that time is over: from then on the peer has a full T_CLOSE for its C.
#
# covers: CONN-21
# module: ours none
# timeout: 60
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_close=1500
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 await:fin.in-time sleep:1300 close mark:on.in-time \
		accept:0 recv:5 await:fin.never sleep:1300 close mark:on.never \
		slot:1 send:5 recv:1=eof close
	await answered
	eq "nothing has run out" "$(counter timer-close)" 0
	eq "no connection was aborted" "$(counter conn-aborted)" 0
	app_end "server program"
	eq "T_CLOSE has run out once" "$(counter timer-close)" 1
	eq "for the reason" "$(counter close-timeout)" 1
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"
		echo "# its C comes in time"
		new in-time
		cat <<-E
			tx fin
			mark fin.in-time
			wait cdc has=C
			await on.in-time
			rx none 700ms
			tx cdc flags=C
			rx eof
			mark answered
		E
		echo "# it does not come"
		new never
		cat <<-E
			tx fin
			mark fin.never
			wait cdc has=C
			start
			await on.never
			rx rst
			elapsed 1200ms 4s
			conn 1
			rx data len=5
			close
		E
	)
}
