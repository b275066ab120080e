# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# More than 65,536 CDC messages on a connection (their sequence number wraps),
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
	check "server of round trips" wait "$a"
	check "server of 1100 MiB" wait "$b"
	smc_was server 2 2
}

client() {
	local before after
	await ready
	smc_reset
	before=$(smc_sum cdc-tx)
	# two messages in each: a length and a byte
	check "34,000 round trips" "$PROG/sweep" client "$PEER" 5000 1 1 1 34000 5000
	after=$(smc_sum cdc-tx)
	check "as many CDC messages ($((after - before)))" test $((after - before)) -gt 65536
	check "1100 MiB through 16 KiB" "$PROG/xfer" client "$PEER" 5001 send=1100m wchunk=64k
	smc_was client 2 2
}
