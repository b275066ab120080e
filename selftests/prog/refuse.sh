# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a verb that frees a resource fails at the end of a link group, by
# smcr_verbsfail, and the next group works.
#
#	refuse_server			two connections, one after the other
#	refuse_client NAME PORT [VERB]	one of them; then its group ends, and VERB fails once
#
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

refuse_server() {
	smc_serve one 5000
	smc_serve two 5001
}

refuse_client() {
	local i
	await "up.$1" 20
	check "$1: client" "$PROG/xfer" client "$PEER" "$2" send=30k recv=50k
	check "$1: released" eventually 20 smc_idle
	[ -z "${3:-}" ] || echo 1 > "/sys/module/smcr_verbsfail/parameters/$3"
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		check "$1: group $i is deleted" "$SMCCTL" linkgroup delete "$i"
	done
	check "$1: it is freed" eventually 20 no_group
}
