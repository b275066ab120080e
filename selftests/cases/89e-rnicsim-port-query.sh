# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An adapter's query of its port fails when the module looks at it for the first time:
# connections use SMC-R all the same.
#
# module: none none
# timeout: 60
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local fault
	fault=/sys/kernel/debug/rnicsim/$(rnic 0)/fault/query_port
	echo 1+ > "$fault"
	load_smcr
	check "it was asked ($(<"$fault"))" grep -qv 'fired 0' "$fault"
	echo 0 > "$fault"
	smc_reset
	bg "$PROG/xfer" server 5000 send=100k recv=100k
	poll 10 listening 5000
	mark ready
	check "server" wait "$BG"
	smc_was server 1 1
	unload_smcr
}

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	await ready
	load_smcr
	smc_reset
	check "client" "$PROG/xfer" client "$PEER" 5000 send=100k recv=100k
	smc_was client 1 1
	unload_smcr
}
