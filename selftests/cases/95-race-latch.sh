# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The latches of the module: a closed one holds threads of its own namespace, as many as
# come, until it is opened, and not longer than 30 s. A group's work stands still meanwhile, so
# the connection waits for it.
#
# needs: latch
# timeout: 90
# tags: race
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

closed() { held "$1" 0; }
open() { ! grep -q "^$1 " $RACE; }

server() {
	smc_serve first 5000
	smc_serve second 5001
}

client() {
	await up.first
	latch llc-work
	check "closed" closed llc-work
	check "refused while it is closed" eval '! latch llc-work 2>/dev/null'
	fast t_llc_first=20000
	smc_reset
	bg "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
	holds llc-work
	eq "connections meanwhile" "$(smc_clients)" 0
	unlatch llc-work
	check "refused while it is open" eval '! unlatch llc-work 2>/dev/null'
	check "client" wait "$BG"
	check "opened" eventually 10 open llc-work
	smc_was "client" 1 1

	# of no thread that works for the other host
	await up.second
	latch slot-make
	check "second client" "$PROG/xfer" client "$PEER" 5001 send=30k recv=50k
	eq "held elsewhere" "$(<$RACE)" "slot-make 0"
	unlatch slot-make

	# it is not opened
	latch lgr-release
	"$SMCCTL" linkgroup delete "$("$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | first')"
	holds lgr-release
	check "the group ends all the same" eventually 50 no_group
	check "a message says so" eval 'messages | grep -q "latch lgr-release is not opened"'
	unlatch lgr-release
}
