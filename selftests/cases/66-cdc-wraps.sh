# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# More than 65,536 CDC messages on a connection (their sequence number wraps, and skips none),
# and more than 65,536 rounds of a ring (the wrap number of the cursors wraps).
#
# covers: CDC-08 CDC-12 CDC-13 CDC-16
# timeout: 200
# lanes: uml qemu
# needs: plain
# tags: slow plain
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	smc_reset
	bg "$PROG/sweep" server 5000
	local a=$BG
	bg "$PROG/xfer" server 5001 recv=1100m rcvbuf=16k
	local b=$BG
	poll 10 listening 5000
	poll 10 listening 5001
	mark ready
	wait "$a" || :	# the client is killed
	check "server of 1100 MiB" wait "$b"
	smc_was server 2 2
}

# wrapped BEFORE: since then so many messages were sent that the sequence number has wrapped
wrapped() { [ $(($(smc_sum cdc-tx) - $1)) -gt 65600 ]; }

client() {
	local before
	await ready
	smc_reset
	before=$(smc_sum cdc-tx)
	# two messages in each round trip, a length and a byte; it is stopped long before its end
	bg "$PROG/sweep" client "$PEER" 5000 1 1 1 200000 5000
	check "more than 65,600 CDC messages" eventually 100 wrapped "$before"
	kill -STOP "$BG"
	nap 1
	eq "number of the last one" "$("$SMCCTL" -ja conn | jq '[.. | objects | select(has("tx-seq"))][0]."tx-seq"')" \
		$((($(smc_sum cdc-tx) - before) % 65536))
	kill -KILL "$BG"
	wait "$BG" || :
	check "1100 MiB through 16 KiB" "$PROG/xfer" client "$PEER" 5001 send=1100m wchunk=64k
	smc_was client 2 2
}
