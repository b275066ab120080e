# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Connections of random size that end in all ways, one after the other and many
# at a time; every end is seen by the other side as what it is. Nothing is
# left, and no timer was needed.
#
# covers: CONN-05 CONN-18 CONN-29 CONN-23 CONN-27 MISC-08 CONN-12
# timeout: 180
# lanes: uml qemu
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1200 / DEAR))

over() {
	check "every connection is released" eventually 10 smc_idle
	eq "connections that needed a timer" "$(smc_sum timer-close timer-abort)" 0
}

server() {
	smc_reset
	bg "$PROG/stress" server 5000 conns=$((3 * N)) par=16
	poll 10 listening 5000
	mark ready
	check "server" wait "$BG"
	smc_was "server" $((3 * N)) $((3 * N))
	over
}

client() {
	await ready
	smc_reset
	check "one at a time" "$PROG/stress" client "$PEER" 5000 conns=$N
	check "four at a time" "$PROG/stress" client "$PEER" 5000 conns=$N par=4 seed=2 max=300000 ends=chsb
	check "sixteen at a time" "$PROG/stress" client "$PEER6" 5000 conns=$N par=16 seed=3 max=60000
	smc_was "client" $((3 * N)) $((3 * N))
	over
}
