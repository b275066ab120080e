# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Data and the end right behind them, while the reader polls: the end is never seen before
# the data. A failure needs a kernel whose workers preempt the reader.
#
# covers: CDC-43 CONN-13
# timeout: 60
# lanes: qemu
# kernels: 7.2 -- its workers preempt the reader
# tags: smoke
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=1000

server() {
	smc_reset
	bg "$PROG/xfer" server 5000 conns=$N recv=3000 send=3000 spin=1 par=6
	poll 10 listening 5000
	mark ready
	check "server: every byte before the end" wait "$BG"
	smc_was "server" $N $N
}

client() {
	await ready
	smc_reset
	check "client: every byte before the end" "$PROG/xfer" client "$PEER" 5000 conns=$N send=3000 recv=3000 spin=1 par=6
	smc_was "client" $N $N
}
