# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Loading and unloading with traffic in between. rmmod of a module in use is
# refused and disturbs nobody; afterwards it works.
#
# covers: MISC-20
# module: none
# timeout: 150
# lanes: uml qemu
# tags: lifecycle wip
# wip: has not had an accepted run in the debug lane
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((12 / SLOW))

server() {
	local i
	for ((i = 0; i < N; i++)); do
		load_smcr
		bg "$PROG/xfer" server 5000 send=200k recv=200k conns=4 par=4
		local a=$BG
		bg "$PROG/xfer" server 5001 endless=1 idle=$((10000 * SLOW))
		local b=$BG
		poll 10 listening 5000
		poll 10 listening 5001
		mark "up$i"
		check "round $i: server" wait "$a"
		await "busy$i"
		check "round $i: rmmod is refused while connections are open" bash -c "! rmmod smcr 2> '$CASEDIR/refused'" || :
		mark "tried$i"
		wait "$b" || check "round $i: the open connection was not disturbed" false || :
		check "round $i: rmmod" eventually 10 unload_smcr
		barrier "round$i" 60
	done
}

client() {
	local i
	for ((i = 0; i < N; i++)); do
		load_smcr
		await "up$i"
		smc_reset
		check "round $i: client" "$PROG/xfer" client "$PEER" 5000 send=200k recv=200k conns=4 par=4
		bg "$PROG/xfer" client "$PEER" 5001 endless=1 idle=$((10000 * SLOW))
		local b=$BG
		moving() { [ "$(smc_sum bytes-rx)" -gt 1500000 ]; }
		poll 20 moving || fail "round $i: nothing moves"
		mark "busy$i"
		check "round $i: rmmod is refused" bash -c "! rmmod smcr 2> '$CASEDIR/refused2'" || :
		await "tried$i"
		smc_was "round $i" 5 5
		kill "$b"
		wait "$b" 2>/dev/null || :
		check "round $i: rmmod" eventually 10 unload_smcr
		barrier "round$i" 60
	done
}
