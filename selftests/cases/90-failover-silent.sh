# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One of two links falls silent, either one, both ways or one way only, under full load
# and with connections that are idle, end, abort, wait for their peer's window, have
# urgent data under way, or unread data. No application notices.
#
# covers: FO-01 FO-19 LG-01
# nics: 2/2
# timeout: 180
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

# MB of each connection. In real time a fast machine would have transferred 24 MB before
# the link is lost, and few connections would be left to move.
LOAD=$((24 / DEAR))
! real_time || LOAD=$((144 / DEAR))

rounds() {
	local how card
	for how in cut server client; do
		for card in 0 1; do
			"round_$ROLE" "$how" "$card" "$how$card"
		done
	done
}

# load, blocked, before: of the round
round_ends() {
	check "$3: load" wait "$load"
	check "$3: blocked" wait "$blocked"
	app_end "$3: program"
	smc_was "$3" 15 15
	check "$3: connections moved" test $(($(moved) - before)) -ge 3
	mend "$1" "$2"
	check "$3: no connection is left" eventually 20 smc_idle
	check "$3: no group is left" eventually 20 no_group
	barrier "over.$3" 60
}

round_server() {
	local load blocked before
	smc_reset
	before=$(moved)
	bg "$PROG/xfer" server 5000 conns=4 par=4 "send=${LOAD}m" "recv=${LOAD}m"
	load=$BG
	bg "$PROG/xfer" server 5002 conns=4 par=4 send=3m recv=3m rdelay=2000
	blocked=$BG
	# idle, end of data, urgent, close, abort, unread
	app_bg limit:60 socket listen:5001 \
		slot:1 accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 \
		slot:4 accept:0 recv:5 send:5 slot:5 accept:0 recv:5 send:5 slot:6 accept:0 recv:5 send:5 \
		slot:7 accept:0 recv:5 send:5 "await:cut.$3" \
		slot:2 recv:1000 recv:1=eof send:1000 close slot:3 recv:7 pollfor:PRI:20000 recvoob skip:1 recv:7 close \
		slot:4 recv:2000 recv:1=eof close slot:5 recv:1=ECONNRESET close \
		slot:7 send:3000 recv:1=eof close \
		slot:1 recv:5 send:5 recv:1=eof close \
		"await:gone.$3" slot:6 recv:12000 send:5 recv:1=eof close
	poll 10 listening 5000
	poll 10 listening 5001
	poll 10 listening 5002
	mark "ready.$3"
	check "$3: two links" eventually 10 have 2
	await "open.$3"
	lose "$1" "$2"
	mark "cut.$3"
	check "$3: one link is left" eventually 20 have 1
	mark "gone.$3"
	round_ends "$@"
}

round_client() {
	local load blocked before
	await "ready.$3"
	smc_reset
	before=$(moved)
	bg "$PROG/xfer" client "$PEER" 5000 conns=4 par=4 "send=${LOAD}m" "recv=${LOAD}m"
	load=$BG
	check "$3: two links" eventually 10 have 2
	bg "$PROG/xfer" client "$PEER" 5002 conns=4 par=4 send=3m recv=3m rdelay=2000
	blocked=$BG
	app_bg limit:60 \
		slot:1 socket "connect:$PEER:5001" send:5 recv:5 slot:2 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:3 socket "connect:$PEER:5001" send:5 recv:5 slot:4 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:5 socket "connect:$PEER:5001" send:5 recv:5 slot:6 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:7 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:6 send:12000 sleep:100 "mark:open.$3" "await:cut.$3" \
		slot:2 send:1000 shut:wr slot:3 send:7 sendoob:1 send:7 slot:4 send:2000 close slot:5 linger:0 close \
		slot:7 recv:3000 close \
		slot:2 recv:1000 recv:1=eof close slot:3 recv:1=eof close \
		slot:1 send:5 recv:5 close slot:6 recv:5 close
	await "cut.$3"
	lose "$1" "$2"
	check "$3: one link is left" eventually 20 have 1
	round_ends "$@"
}

both() {
	_is_sim || skip "what one host alone loses is lost in the simulation only"
	at_once max_links=2
	rounds
	eq "no connection was reset by the link" "$(counter no-link)" 0
}
server() { both; }
client() { both; }
