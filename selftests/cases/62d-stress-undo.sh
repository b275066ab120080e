# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Races of threads on one socket: connect() against shutdown() and connect(AF_UNSPEC), on
# former listeners and in handshakes. A listener that tcp_abort() ends looks as on TCP,
# and a lower SO_RCVLOWAT wakes poll().
#
# covers: CONN-38 MISC-20
# timeout: 180
# lanes: uml qemu
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	bg "$PROG/sockrace" server 5000
	poll 10 listening 5000
	mark ready
	await over 150
}

# killed FAMILY: the results of calls on a listener that tcp_abort() has ended
killed() {
	"$PROG/sockcmd" socket:"$1" listen:5001 mark:"$1" pollfor:IN:8000=any poll:0=any soerror=any soerror=any \
		slot:1 accept:0=any slot:0 poll:0=any close > "$CASEDIR/killed.$1" 2>&1 &
	local pid=$!
	poll 10 test -s "$CASEDIR/mark.$1"
	nap 0.2
	ss -Ktln "sport = :5001" > /dev/null
	wait "$pid" || :
	sed -i '/^socket:/d; /^mark:/d' "$CASEDIR/killed.$1"
	cat "$CASEDIR/killed.$1"
}

client() {
	await ready
	smc_reset
	check "SO_RCVLOWAT lowered under poll()" "$PROG/sockrace" lowat "$PEER" 5000
	smc_was "SO_RCVLOWAT" 1 1
	check "threads that do not agree" "$PROG/sockrace" undo "$PEER" 5000 $((600 / DEAR))
	check "every connection is released" eventually 20 smc_idle
	killed tcp
	killed smc
	check "a killed listener looks as on TCP" diff "$CASEDIR/killed.tcp" "$CASEDIR/killed.smc"
	mark over
}
