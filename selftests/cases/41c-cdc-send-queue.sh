# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# More connections than the link's send queue has room for: they wait in line, and
# each of them gets its turns until all bytes have arrived, both ways at once.
#
# covers: CDC-21
# timeout: 90
# tags: cdc nodebug plain
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=200
XFER="conns=$N par=$N send=300k recv=300k wchunk=1:20k sndbuf=16k rcvbuf=16k idle=$((20000 * SLOW))"

over() {
	check "connections had to wait for the send queue" test "$(smc_sum tx-send-queue-full)" -gt 0 || :
	smc_was "all" $N $N
	check "every connection is released" eventually 10 smc_idle
}

server() {
	smc_reset
	# shellcheck disable=SC2086
	bg "$PROG/xfer" server 5000 $XFER
	poll 10 listening 5000
	mark up
	check "server" wait "$BG" || :
	over
}

client() {
	smc_reset
	await up
	# shellcheck disable=SC2086
	check "client" "$PROG/xfer" client "$PEER" 5000 $XFER || :
	over
}
