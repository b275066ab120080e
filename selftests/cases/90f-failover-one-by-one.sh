# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Four links, lost one after the other under load until one is left, then three at once
# and in the midst of each other's failover; then the last one: its connections end
# with an error, and none hangs.
#
# covers: FO-20 FO-24 LG-01 LLC-57
# nics: 4/4
# timeout: 180
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

# four NAME [ENDLESS]: four links, and a load over all of them, in $LOAD
four() {
	local how=("send=$((48 / DEAR))m" "recv=$((48 / DEAR))m")
	[ $# = 1 ] || how=(endless=1)
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=8 par=8 "${how[@]}"
		poll 10 listening 5000
		mark "ready.$1"
	else
		await "ready.$1"
		bg "$PROG/xfer" client "$PEER" 5000 conns=8 par=8 "${how[@]}"
	fi
	LOAD=$BG
	check "$1: four links" eventually 20 have 4
	check "$1: all connections are open" eventually 20 opened 8
	barrier "four.$1"
}
ended() {
	mend_all
	check "$1: no connection is left" eventually 20 smc_idle
	check "$1: no group is left" eventually 20 no_group
	barrier "over.$1" 60
}
mend_all() {
	local i
	[ "$ROLE" = client ] || for i in 0 1 2 3; do path_mend $i $i 2> /dev/null || :; done
}
cut() { [ "$ROLE" = client ] || path_cut "$1" "$1"; }

rounds() {
	local i
	four "one by one"
	for i in 3 0 1; do
		cut "$i"
		check "one by one: link $i is lost" eventually 20 fewer
	done
	check "one by one: load" wait "$LOAD"
	smc_was "one by one" 8 8
	ended "one by one"

	four "at once"
	for i in 0 1 2; do cut $i; done
	check "at once: one link is left" eventually 30 have 1
	check "at once: load" wait "$LOAD"
	smc_was "at once" 8 8
	ended "at once"

	# the next one fails while connections move to it
	four "in between"
	for i in 2 3 1; do cut $i; nap 0.1; done
	check "in between: one link is left" eventually 30 have 1
	check "in between: load" wait "$LOAD"
	smc_was "in between" 8 8
	ended "in between"

	four "the last" endless
	for i in 0 1 2 3; do cut $i; done
	check "the last: no group is left" eventually 20 no_group
	check "the last: all connections end" eventually 10 gone "$LOAD"
	check "the last: each with an error, or the end of data" wait "$LOAD"
	smc_was "the last" 8 8
	ended "the last"
}
_left=4
fewer() { [ "$(n_links)" -lt "$_left" ] && _left=$((_left - 1)); }

server() { at_once max_links=4; rounds; }
client() { at_once max_links=4; rounds; }
