# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A writer that calls poll() before each send gets the whole send buffer, as one that
# blocks does, sleeps no more often, and its bytes arrive.
#
# covers: CDC-21
# timeout: 60
# tags: cdc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# More than the first buffer and the reader's 16 KiB, less than the large one
N=11

sndbuf() { "$SMCCTL" -j conn | jq '[.. | objects | ."sndbuf-size"? // 0] | max'; }

sleeps() { sed -n 's/.* failed, \([0-9]*\) sleeps$/\1/p' "$1"; }

rate() { sed -n 's/.* s, \([0-9.]*\) MB.*/\1/p' "$1"; }

server() {
	local n
	bg "$PROG/sockcmd" limit:20 socket rcvbuf:16384 listen:5000 mark:up slot:1 accept:0 await:full recv:$((N * 16384)) recv:1=eof close
	check "reader" wait "$BG" || :
	for n in 1 2; do
		bg "$PROG/xfer" server 5001 recv=64m
		poll 10 listening 5001
		mark "up$n"
		check "reader $n" wait "$BG" || :
	done
}

client() {
	await up
	# shellcheck disable=SC2046
	bg "$PROG/sockcmd" limit:20 slot:1 socket sndbuf:262144 connect:"$PEER":5000 nonblock \
		$(for _ in $(seq $N); do echo poll:0=OUT write:16384=16384; done) mark:filled await:seen close
	await filled
	check "the send buffer has grown" test "$(sndbuf)" -ge 200000 || :
	mark seen
	mark full
	check "writer" wait "$BG" || :
	await up1
	check "blocking" into blocking "$PROG/xfer" client "$PEER" 5001 send=64m wchunk=16k || :
	await up2
	check "poll() first" into polling "$PROG/xfer" client "$PEER" 5001 send=64m wchunk=16k poll=1 || :
	# With a small buffer it would be each of the 4,096 sends. Blocking: some 300.
	check "not once per send: $(sleeps polling) sleeps, blocking $(sleeps blocking)" \
		test "$(sleeps polling)" -le $((2 * $(sleeps blocking) + 100)) || :
	echo "blocking $(rate blocking) MB/s, poll() first $(rate polling) MB/s"
}
