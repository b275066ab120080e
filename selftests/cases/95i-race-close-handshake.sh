# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Handshakes are over, but have not ended, when their sockets are closed: a client, an accepted socket and its
# listener, with a dump at the same time. Nothing is left of them.
#
# covers: CONN-38
# needs: latch
# timeout: 90
# tags: race hs
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

closes() {
	kill "$1"
	nap 0.2
	"$SMCCTL" -j conn > /dev/null
	"$SMCCTL" -j listener > /dev/null 2>&1 || :
	unlatch hs-over
	wait "$1" || :
	check "$ROLE: no connection is left" eventually 20 smc_idle
}

server() {
	bg "$PROG/xfer" server 5000 endless=1 idle=100000
	poll 10 listening 5000
	barrier client
	barrier closed
	kill "$BG" || :
	wait "$BG" || :

	latch hs-over
	bg "$PROG/xfer" server 5001 endless=1 idle=100000
	poll 10 listening 5001
	barrier server
	holds hs-over
	closes "$BG"
	barrier over
}

client() {
	barrier client
	latch hs-over
	bg "$PROG/xfer" client "$PEER" 5000 endless=1 idle=100000
	holds hs-over
	closes "$BG"
	barrier closed

	barrier server
	bg "$PROG/xfer" client "$PEER" 5001 endless=1 idle=100000
	barrier over
	wait "$BG" || :
	check "client: no connection is left at the end" eventually 20 smc_idle
}
