# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP's FIN alone gives the peer T_CLOSE for its D, C or A. The application closes when
# that time is over and its work has begun (and is held by a latch): from then on the peer
# has a full T_CLOSE for its C. The work for the FIN ends nothing.
#
# covers: CONN-21
# module: ours none
# timeout: 60
# needs: uml
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

HOLD=/sys/module/smcr_hold/parameters
holds() { [ "$(<$HOLD/held)" = 1 ]; }

# held NAME: T_CLOSE of the FIN is over, then close(), then its work goes on
held() {
	local timer
	timer=$(awk '$3 == "smcr_conn_timer" { print $1 }' /proc/kallsyms)
	echo "0x$timer" > $HOLD/work
	mark "set.$1"
	check "$1: T_CLOSE is over" eventually 5 holds
	mark "over.$1"
	await "closed.$1"
	echo 0 > $HOLD/work
	mark "on.$1"
}

server() {
	fast t_close=1500
	insmod "$TREE/build/mod/$KERNEL/smcr_hold.ko"
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 await:over.in-time close mark:closed.in-time \
		accept:0 recv:5 await:over.never close mark:closed.never \
		slot:1 send:5 recv:1=eof close
	held in-time
	await answered
	eq "nothing has run out" "$(counter timer-close)" 0
	eq "no connection was aborted" "$(counter conn-aborted)" 0
	held never
	app_end "server program"
	eq "T_CLOSE has run out once" "$(counter timer-close)" 1
	eq "for the reason" "$(counter close-timeout)" 1
	rmmod smcr_hold
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"
		echo "# its C comes in time"
		new in-time
		cat <<-E
			await set.in-time
			tx fin
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
			await set.never
			tx fin
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
