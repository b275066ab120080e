# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Links that come and go by chance, at least one path open at any time: streams go on,
# and no connection is stuck. Then each of two links is lost in another direction:
# the group ends, and all its connections with it.
#
# covers: FO-24
# nics: 2/2
# timeout: 240
# tags: lgr links failover slow
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

flap() {
	local i card=0
	for i in {1..12}; do
		# mostly the one to which the connections have moved
		[ $((RANDOM % 4)) = 0 ] || card=$((1 - card))
		path_cut $card $card
		# noticed or not
		nap "0.$((RANDOM % 8 + 1))"
		path_mend $card $card
		nap "$((RANDOM % 2)).$((RANDOM % 10))"
		# the other one is there by now, as this one may be lost next
		eventually 30 have 2 || break
	done
	check "a link came each time" have 2
}

load() {
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server "$1" conns=6 par=6 "${@:2}"
		poll 10 listening "$1"
		mark "ready.$1"
	else
		await "ready.$1"
		bg "$PROG/xfer" client "$PEER" "$1" conns=6 par=6 "${@:2}"
	fi
	LOAD=$BG
}

both() {
	at_once max_links=2 t_link_retry=1000
	RANDOM=$SEED
	smc_reset
	load 5000 send=8m recv=8m pause=200 idle=40000
	check "two links" eventually 10 have 2
	barrier two
	[ "$ROLE" = client ] || flap
	barrier flapped 200
	check "load" wait "$LOAD"
	smc_was "flaps" 6 6
	check "connections moved ($(moved))" test "$(moved)" -ge 12
	check "no connection is left" eventually 20 smc_idle
	check "no group is left" eventually 20 no_group
	barrier idle

	smc_reset
	load 5001 endless=1
	check "two links once more" eventually 10 have 2
	barrier again
	if [ "$ROLE" = client ]; then lossy 0 1000000; else lossy 1 1000000; fi
	check "no group is left, crosswise" eventually 20 no_group
	check "all connections end" eventually 10 gone "$LOAD"
	check "each with an error, or the end of data" wait "$LOAD"
	lossy 0 0
	lossy 1 0
	smc_was "crosswise" 6 6
	check "no connection is left, crosswise" eventually 20 smc_idle
	barrier over
}
server() { both; }
client() { both; }
