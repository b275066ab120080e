# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Connections that wait for their move are counted. The completions of one adapter come a second late, and its
# link is lost: half of the connections wait for these, then all send over the other link, and none waits.
#
# covers: FO-03
# nics: 2/2
# timeout: 120
# tags: diag lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
N=8

# of the client's second card: an interrupt is so far behind its completion
slow_card() { [ "$ROLE" = server ] || echo "$1" > "$(_sim 1)/cq_delay"; }
overview() { "$SMCCTL" -j show | jq .waiting; }

both() {
	_is_sim || skip "completions are late in the simulation only"
	local load
	at_once max_links=2
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=$N par=$N wpause=1 until="$CASEDIR/enough"
		poll 10 listening 5000
		mark ready
	else
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N wpause=1 until="$CASEDIR/enough"
	fi
	load=$BG
	says "two links" .conns "$((N / 2)) $((N / 2))"
	group_says "none waits" .waiting 0
	eq "$ROLE: nor in the overview" "$(overview)" 0
	barrier two
	slow_card 1000000000
	barrier slow
	[ "$ROLE" = server ] || port_down 1
	if [ "$ROLE" = client ]; then
		group_says "those of the lost link wait" .waiting $((N / 2))
		eq "the overview has them" "$(overview)" $((N / 2))
		check "and says so" grep -q "with $N connections, $((N / 2)) of them wait for another link" <("$SMCCTL" show)
	fi
	check "$ROLE: one link is left" eventually 20 have 1
	group_says "none waits any more" '[.waiting, .moved] | tojson' "[0,$((N / 2))]"
	barrier moved
	slow_card 0
	[ "$ROLE" = server ] || port_up 1
	touch "$CASEDIR/enough"
	check "$ROLE: no error, and no wrong byte" wait "$load"
	smc_was "$ROLE" $N $N
	check "$ROLE: no connection is left" eventually 20 smc_idle
}
server() { both; }
client() { both; }
