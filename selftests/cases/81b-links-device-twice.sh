# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An RNIC of a group with two links is removed, comes back and is removed again, at either
# end: its link is deleted orderly each time, connections move before, and no link fails
# (RFC 7609 3.5.5.1.3).
#
# covers: LG-34
# nics: 2/2
# timeout: 120
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

both() {
	local at n
	at_once max_links=2 t_link_retry=1000 t_lgr_idle=60000
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=8 par=8 endless=1 rchunk=4k pause=5 idle=100000
		poll 10 listening 5000
		mark ready
	else
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=8 par=8 endless=1 rchunk=4k pause=5 idle=100000
	fi
	local load=$BG
	check "two links" eventually 20 have 2
	barrier two
	for at in server client; do
		for n in 1 2; do
			[ "$ROLE" != $at ] || rnic_delete 1
			check "$at, removal $n: one link" eventually 20 have 1
			eq "$at, removal $n: links that failed" "$(counter link-down)" 0
			check "$at, removal $n: all connections are on it" eventually 10 _is links .conns 8
			barrier "one.$at.$n"
			[ "$ROLE" != $at ] || rnic_add 1
			check "$at, removal $n: two links again" eventually 40 have 2
			barrier "two.$at.$n"
		done
	done
	check "connections moved" test "$(moved)" -ge 4
	eq "link groups" "$(counter lgr-created)" 1
	kill "$load" || :	# the other side may have ended it
	wait "$load" || :
	check "no connection is left" eventually 20 smc_idle
	barrier over
}

server() { both; }
client() { both; }
