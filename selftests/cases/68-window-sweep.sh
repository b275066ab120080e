# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Messages of half to one and a half times the element: no size stalls.
#
# covers: CDC-33
# timeout: 150
# lanes: uml qemu
# tags: data
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	local p
	for p in 5000 5001 5002; do
		[ $p = 5000 ] || { echo 65536 > /proc/sys/net/smcr/rmem; echo 65536 > /proc/sys/net/smcr/wmem; }
		bg "$PROG/sweep" server $p
		local pid=$BG
		poll 10 listening $p
		mark "up$p"
		check "server $p" wait "$pid"
	done
}

client() {
	local rmem
	smc_reset
	await up5000
	rmem=$(</proc/sys/net/smcr/rmem)
	check "around $rmem" "$PROG/sweep" client "$PEER" 5000 $((rmem / 2)) $((rmem * 3 / 2)) $((rmem / 64)) 3 $((400 * SLOW))
	await up5001
	echo 65536 > /proc/sys/net/smcr/rmem; echo 65536 > /proc/sys/net/smcr/wmem
	check "around 65536" "$PROG/sweep" client "$PEER" 5001 32768 98304 $((509 * SLOW)) 5 $((200 * SLOW))
	await up5002
	check "around 65536, in two parts" "$PROG/sweep" client "$PEER" 5002 65000 66200 $((13 * SLOW)) 5 $((200 * SLOW)) 100
	smc_was client 3 3
}
