# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RNIC of one of two links is pulled: that link drains for a second. The other link's
# port goes down at once. The first link is active again as long as it works: there is a
# connection until that second is over, and then none.
#
# covers: FO-24
# nics: 2/2
# timeout: 120
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
N=4

# pulled HOST: faults of HOST's cards, and how long connections live then
pulled() {
	local load t pulled port
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=$N par=$N endless=1 rchunk=4k wpause=1
		poll 10 listening 5000
		mark "ready.$1"
	else
		await "ready.$1"
		bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N endless=1 rchunk=4k wpause=1
	fi
	load=$BG
	says "$1: two links" .conns "$((N / 2)) $((N / 2))"
	[ "$1" != "$ROLE" ] || monitor_links
	barrier "two.$1"
	if [ "$ROLE" = "$1" ]; then
		pulled=$(_sim 1)
		port=$(_sim 0)
		t=$(date +%s%N)
		# ... which takes long enough for the other one to go meanwhile
		echo 150000000 > "$pulled/cq_delay"
		# in real time, under load, a program or a fork takes most of the second
		echo remove > "$pulled/act"
		nap 0.1
		echo port_err > "$port/act"
		wait "$load" || :
		t=$((($(date +%s%N) - t) / 1000000))
		check "$1: its link was left" grep -q link-leaving "$_links_log"
		check "$1: connections lived for $t ms, as long as the RNIC did" test "$t" -ge 900 -a "$t" -le 6000
	else
		wait "$load" || :
	fi
	[ "$ROLE" != "$1" ] || check "$1: the link stayed: $(life 2)" grep -q '^leaving active' <<< "$(life 2)"
	check "$ROLE, $1: no connection is left" eventually 20 smc_idle
	check "$ROLE, $1: no group is left" eventually 20 no_group
	barrier "over.$1"
	if [ "$ROLE" = "$1" ]; then port_up 0; rnic_add 1; fi
	barrier "mended.$1"
}

both() {
	_is_sim || skip "what a pulled RNIC does for a second is certain in the simulation only"
	at_once max_links=2
	pulled server
	pulled client
}
server() { both; }
client() { both; }
