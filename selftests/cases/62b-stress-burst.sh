# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As many connections as a third RMB holds are closed at once by both sides, and at the
# same time a new connection moves data both ways: it never waits for what the others left
# in the send queue.
#
# covers: CONN-18
# timeout: 180
# lanes: uml
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1 + 49 / DEAR / DEAR))
BULK=$((16 / DEAR))

server() {
	smc_reset
	bg "$PROG/stress" server 5000 conns=$((N * 33)) par=33
	local many=$BG
	bg "$PROG/xfer" server 5001 conns=$N send=${BULK}m recv=${BULK}m idle=$((5000 * SLOW))
	local bulk=$BG
	poll 10 listening 5000
	poll 10 listening 5001
	mark ready
	check "server of the 33" wait "$many"
	check "server of the bulk" wait "$bulk"
	smc_was "server" $((N * 34)) $((N * 34))
	check "every connection is released" eventually 10 smc_idle
}

client() {
	local i begin took worst=0
	await ready
	smc_reset
	for ((i = 0; i < N; i++)); do
		"$PROG/stress" client "$PEER" 5000 conns=33 par=33 max=3000 ends=b seed=$i > "$CASEDIR/burst.log" 2>&1 ||
			check "round $i: 33 connections ($(tail -n 1 "$CASEDIR/burst.log"))" false
		begin=$(now)
		"$PROG/xfer" client "$PEER" 5001 send=${BULK}m recv=${BULK}m idle=$((5000 * SLOW)) > "$CASEDIR/bulk.log" 2>&1 ||
			check "round $i: bulk ($(tail -n 1 "$CASEDIR/bulk.log"))" false
		took=$(($(now) - begin))
		[ $took -le $worst ] || worst=$took
	done
	echo "slowest bulk: $worst ms"
	check "no bulk took longer than 5 s (slowest $worst ms)" test $worst -lt $((5000 * SLOW))
	smc_was "client" $((N * 34)) $((N * 34))
	check "every connection is released" eventually 10 smc_idle
}
