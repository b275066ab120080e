# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Clients that offer SMC-R and then send nothing take half of a listener's backlog, and no
# more: SYNs behind them are answered as plain TCP, so that plain clients are accepted at
# once. The handshakes under way are counted. When they have timed out SMC-R is offered
# again.
#
# covers: MISC-21 CLC-13
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc tcpopt
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# of PORT MEMBER: of the listener
of() { "$SMCCTL" -ja conn | jq "[.[] | select(.\"local-port\" == $1) | .\"$2\" | numbers] | add"; }
negotiating() { of "$1" negotiating; }
negotiate() { test "$(negotiating "$1")" "$2" "$3"; }

# plain N: accepts N silent connections, and serves the next one
plain() {
	local i
	for ((i = 1; i <= $1; i++)); do echo "slot:$i" accept:0; done
	echo mark:queue "slot:$i" accept:0 recv:5 send:5
}

server() {
	fast t_clc=8000
	# 40 silent connections: 9 are in a handshake, 31 are plain TCP; and one that sends
	# shellcheck disable=SC2046
	app_bg limit:30 socket listen:5000:16 mark:up $(plain 31) \
		slot:33 accept:0 recv:5 send:5 await:stop close slot:0 close
	await nine
	# the puppet is done when its kernel has the bytes, not when this one has; a child
	# that moves from TCP's queue to the listener's is in neither for a moment
	check "nine negotiate" poll 10 negotiate 5000 -eq 9
	mark nine.seen
	await silent
	eq "negotiations in half of the backlog" "$(negotiating 5000)" 9
	eq "SYNs answered as plain TCP" "$(counter listen-half-full)" 31
	await queue
	mark counted
	await answered
	check "their time ends" poll 12 negotiate 5000 -eq 0
	eq "T_CLC ended each" "$(counter timer-clc)" 9
	mark ended
	app_end "everybody else was served"

	# the same in a burst, which TCP has before the worker sees any of it
	app_bg limit:30 socket listen:5001:16 mark:up2 await:stop2 close
	await burst
	check "no more than half of the backlog in a burst" \
		poll 5 negotiate 5001 -ge 8
	check "nor more" negotiate 5001 -le 10
	mark stop2
	app_end "the second listener"

	# room for one handshake, whatever the backlog
	app_bg limit:30 socket listen:5002:0 mark:up3 slot:1 accept:0 recv:5 send:5 close
	app_end "a backlog of 0"

	# no child is taken from TCP beyond the backlog, of which the handshakes have half
	app_bg limit:30 socket listen:5003:16 mark:up4 await:stop4 close
	await waiting
	check "nine negotiate beside children that wait" poll 5 negotiate 5003 -eq 9
	eq "children that wait for accept()" "$(of 5003 accept-queue)" 9
	mark stop4
	app_end "nothing is accepted"
}

# silent N PORT PAUSE [FIRST]: N connections with the option, and nothing on them
silent() {
	local i
	for ((i = ${4:-0}; i < $1 + ${4:-0}; i++)); do
		printf '%s\n' "conn s$2.$i" "connect $PEER $2"
		[ -z "$3" ] || echo "sleep $3"
	done
}

client() {
	await up
	pup "forty silent clients, the first of them with the option" < <(
		silent 9 5000 20ms
		printf '%s\n' "mark nine" "await nine.seen"
		silent 31 5000 20ms 9
		printf '%s\n' "conn s5000.8" "opt 1" "conn s5000.9" "opt 0" \
			"conn s5000.39" "opt 0" "mark silent" "await answered" \
			"await ended" "conn good" "connect $PEER 5000" "opt 1" \
			first_contact "tx data len=5" "rx data len=5" \
			"mark stop" close) &
	await counted
	app "a plain client is answered at once" socket:tcp start \
		connect:"$PEER":5000 send:5 recv:5 elapsed:0:2000
	mark answered
	wait $!
	await up2
	pup "a burst" < <(silent 30 5001 ""; echo "mark burst"; echo "await stop2")
	await up3
	pup "a backlog of 0" < <(
		silent 1 5002 20ms
		echo "opt 1"
		silent 1 5002 20ms
		printf '%s\n' "opt 0" "tx app len=5" "rx app len=5")
	await up4
	pup "children that wait for accept()" < <(
		silent 9 5003 20ms
		silent 20 5003 20ms 9
		printf '%s\n' "mark waiting" "await stop4")
}
