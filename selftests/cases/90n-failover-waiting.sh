# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Connections that wait for their move are counted. The completions of one adapter come a second late, and its
# link is lost: half of the connections wait for these, then all send over the other link, and none waits. A link that
# drains has sent a few bytes, whose work requests are not signalled: its connection waits for their completion, too.
#
# covers: FO-03
# nics: 2/2
# timeout: 120
# tags: diag lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
N=8

# of the client's second card: an interrupt is so far behind its completion
slow_card() { [ "$ROLE" = server ] || echo "$1" > "$(_sim 1)/cq_delay"; }
overview() { "$SMCCTL" -j show | jq .waiting; }

lost() {
	local load
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
# The client's second card is pulled and drains. No work request that it has is signalled.
drained() {
	smc_reset
	if [ "$ROLE" = server ]; then
		app_bg limit:40 socket listen:5001 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 await:sent slot:1 recv:9 slot:2 recv:9 \
			await:left slot:1 recv:1=eof close slot:2 recv:1=eof close
	else
		await up
		app_bg limit:40 slot:1 socket "connect:$PEER:5001" send:5 slot:2 socket "connect:$PEER:5001" send:5 \
			await:slow slot:1 send:9 slot:2 send:9 mark:sent await:left slot:1 close slot:2 close
	fi
	says "two links" .conns "1 1"
	slow_card 200000000
	barrier set
	mark slow
	await sent
	if [ "$ROLE" = client ]; then
		echo remove > "$(_sim 1)/act"
		nap 0.1
		eq "nothing moves before what was sent has completed" "$(group .moved)" 0
	fi
	group_says "its connection has moved" .moved 1
	barrier moved2
	mark left
	app_end "$ROLE program"
	smc_was "$ROLE" 2 2
	slow_card 0
	if [ "$ROLE" = client ]; then
		poll 5 test ! -e "/sys/class/infiniband/$(rnic 1)"
		rnic_add 1
	fi
	check "$ROLE: no connection is left" eventually 20 smc_idle
}

both() {
	_is_sim || skip "completions are late in the simulation only"
	at_once max_links=2
	lost
	check "$ROLE: no group is left" eventually 20 no_group
	barrier lost
	drained
}
server() { both; }
client() { both; }
