# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A reader copies from its element when the group ends and the element is purged: it gets the bytes
# that were there, or the error, and the memory stays until it is done.
#
# covers: CONN-32
# needs: latch
# timeout: 90
# tags: race conn
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	bg "$PROG/xfer" server 5000 send=4m recv=0
	poll 10 listening 5000
	mark up
	await over
	wait "$BG" && fail "the server has not lost its connection" || :
	check "server: the group is freed" eventually 20 no_group
}

client() {
	smc_reset
	await up
	latch rx-copy
	bg "$PROG/xfer" client "$PEER" 5000 send=0 recv=4m
	holds rx-copy
	smc_was "client" 1 1
	"$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	nap 2		# longer than the end of a group waits for its peer
	unlatch rx-copy
	mark over
	wait "$BG" && fail "the reader has not lost its connection" || :
	check "client: the group is freed" eventually 20 no_group
}
