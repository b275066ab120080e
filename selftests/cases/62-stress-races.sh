# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Both sides end the connection at the same moment: close and close, half-close
# and half-close, reset and close.
#
# covers: CONN-18 CONN-29 CONN-30 CONN-20
# timeout: 240
# lanes: uml qemu
# tags: stress wip
# wip: 2 of 2000 racing aborts dropped unread data (CONN-27)
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1500 / SLOW))

over() {
	check "every connection is released" eventually 10 smc_idle
	eq "connections that needed a timer" "$(smc_sum timer-close timer-abort)" 0 || :
}

server() {
	smc_reset
	bg "$PROG/stress" server 5000 conns=$((4 * N)) par=8
	poll 10 listening 5000
	mark ready
	check "server" wait "$BG"
	smc_was "server" $((4 * N)) $((4 * N))
	over
}

client() {
	local end
	await ready
	smc_reset
	for end in b h r u; do
		check "end $end" "$PROG/stress" client "$PEER" 5000 conns=$N par=8 max=200 ends=$end
	done
	smc_was "client" $((4 * N)) $((4 * N))
	over
}
