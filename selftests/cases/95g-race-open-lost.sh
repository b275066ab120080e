# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A second connection is about to be listed in its group when that ends: it is not lost between the two, but
# goes on as TCP or in a group of its own.
#
# covers: FO-23
# needs: latch
# timeout: 90
# tags: race conn lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	bg "$PROG/xfer" server 5000 endless=1 idle=100000
	poll 10 listening 5000
	smc_serve second 5001
	await over
	kill "$BG" || :
	wait "$BG" || :
	check "server: no group is left" eventually 20 no_group
}

client() {
	local first
	await up.second
	bg "$PROG/xfer" client "$PEER" 5000 endless=1 idle=100000
	first=$BG
	group_says "the first connection" '.conns' 1
	latch conn-open
	bg "$PROG/xfer" client "$PEER" 5001 send=30k recv=50k
	holds conn-open
	"$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	nap 0.2
	unlatch conn-open
	check "the second connection" wait "$BG"
	wait "$first" || :
	mark over
	check "client: no group is left" eventually 20 no_group
}
