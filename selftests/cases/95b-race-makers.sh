# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The number of links that are created at the same time is limited (to one here; both
# hosts have the same module): the next one waits in a queue and in no worker. A group
# that ends meanwhile takes its own out of the queue at once, and another one has its turn
# when the first is created.
#
# needs: latch
# nics: 2/2
# timeout: 90
# tags: race lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

ended() { [ "$(counter lgr-freed)" = "$1" ]; }
groups() { [ "$(counter lgr-created)" = "$1" ]; }

# serve PORT, use PORT: a connection that stays, in $BG
serve() { bg "$PROG/xfer" server "$1" endless=1 idle=100000; poll 10 listening "$1"; }
use() { bg "$PROG/xfer" client "$PEER" "$1" endless=1 idle=100000; }

server() {
	local first third
	[ "$FABRIC" = sim ] || skip "each host has a line of its own"
	echo 1 > /sys/module/smcr/parameters/making
	fast max_links=2 t_llc_first=30000
	serve 5000
	first=$BG
	latch slot-make
	mark up
	holds slot-make
	# the peer is the server of these groups, and creates their second links
	await listens
	use 5001
	check "a second group" eventually 10 groups 2
	nap 1
	kill "$BG"
	wait "$BG" || :
	check "it ends without having had its turn" eventually 20 ended 1
	barrier ended
	use 5002
	third=$BG
	check "a third group" eventually 10 groups 3
	nap 1
	holds slot-make		# and nothing else is made
	unlatch slot-make
	mark open
	says "links in the end" '.state' 'rts rts rts rts'
	barrier over
	kill "$first" "$third" || :
	wait "$first" "$third" || :
	check "all groups are freed" eventually 20 idle_end
	echo 16 > /sys/module/smcr/parameters/making
}
idle_end() {
	local g
	for g in $("$SMCCTL" -j linkgroup | jq '.. | objects | ."lgr-id"? // empty'); do "$SMCCTL" linkgroup delete "$g" || :; done
	no_group
}

client() {
	local second third
	[ "$FABRIC" = sim ] || skip "each host has a line of its own"
	fast max_links=2 t_llc_first=30000
	await up
	use 5000
	serve 5001
	second=$BG
	serve 5002
	third=$BG
	mark listens
	check "a second group" eventually 20 groups 2
	check "it ends while it waits in line" eventually 20 ended 1
	barrier ended
	await open
	says "links in the end" '.state' 'rts rts rts rts'
	barrier over
	kill "$second" "$third" || :
	wait "$second" "$third" || :
}
