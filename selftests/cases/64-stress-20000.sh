# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# 20,000 connections, one after the other in eight threads, and no memory is leaked.
#
# covers: MISC-20
# timeout: 300
# lanes: uml
# tags: stress slow
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((20000 / DEAR / DEAR / DEAR))
slab() { awk '/^SUnreclaim/ { print $2 }' /proc/meminfo; }

server() {
	smc_reset
	bg "$PROG/stress" server 5000 conns=$((N + 200)) par=8
	poll 10 listening 5000
	mark ready
	check "server" wait "$BG"
	smc_was "server" $((N + 200)) $((N + 200))
	check "every connection is released" eventually 10 smc_idle
}

client() {
	local before
	await ready
	smc_reset
	check "warm-up" "$PROG/stress" client "$PEER" 5000 conns=200 par=8 max=2000 ends=chsb
	before=$(slab)
	check "$N connections" "$PROG/stress" client "$PEER" 5000 conns=$N par=8 max=2000 ends=chsb
	smc_was "client" $((N + 200)) $((N + 200))
	check "every connection is released" eventually 10 smc_idle
	flat() { [ $(($(slab) - before)) -lt 8192 ]; }
	# TCP's TIME-WAIT, in which all of them may be, is a minute
	check "slab memory did not grow ($before, now $(slab) KiB)" eventually 80 flat
}
