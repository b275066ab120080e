# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The server's device is removed while its first contact is under way: plain TCP, and a
# Decline with that reason. The link group ends for a reason that has no code on the wire.
#
# covers: CLC-54
# timeout: 60
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	smc_reset
	echo "1 remove" > "/sys/kernel/debug/rnicsim/$(rnic 0)/fault/create_qp"
	bg "$PROG/xfer" server 5000 send=100k recv=100k
	poll 10 listening 5000
	mark ready
	check "server over TCP" wait "$BG"
	eq "fallback" "$(counter server-fallbacks)" 1
	eq "declined because the device has gone" "$(counter device-gone)" 1
	# its name is in use until the last reference is dropped
	poll 5 rnic_add 0
}

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	await ready
	smc_reset
	check "client over TCP" "$PROG/xfer" client "$PEER" 5000 send=100k recv=100k
	eq "fallback" "$(counter client-fallbacks)" 1
}
