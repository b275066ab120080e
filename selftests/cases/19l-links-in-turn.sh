# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two links are lost in turn, each after the other one has been replaced: every new link is
# added over the other one, with the RTokens of all RMBs, so all connections move to it when
# the other one is lost.
#
# covers: RMB-05
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

turns() {
	local i first
	check "two links" eventually 10 have 2
	check "all connections" eventually 20 opened $N
	first=$(links 'select(."link-num" == 1) | .conns')
	check "link 1 has connections ($first)" test "$first" -ge 1
	barrier two
	for i in 0 1 2 3; do
		[ "$ROLE" = client ] || path_cut $((i % 2)) $((i % 2))
		check "turn $i: one is left" eventually 20 have 1
		barrier "one.$i"
		# each later link carries all connections
		eq "turn $i: connections that moved" "$(moved)" $((first + i * N))
		[ "$ROLE" = client ] || path_mend $((i % 2)) $((i % 2))
		check "turn $i: a new one" eventually 20 have 2
		barrier "again.$i"
	done
	: > /tmp/turned
	check "data" wait "$LOAD"
	smc_was "$ROLE" $N $N
}

both() {
	at_once max_links=2 t_link_retry=1000
	smc_reset
	rm -f /tmp/turned
}

server() {
	both
	bg "$PROG/xfer" server 5000 conns=$N par=$N until=/tmp/turned wpause=10
	LOAD=$BG
	poll 10 listening 5000
	mark ready
	turns
}

client() {
	both
	await ready
	bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N until=/tmp/turned wpause=10
	LOAD=$BG
	turns
}
