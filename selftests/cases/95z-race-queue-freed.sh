# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The completion handler of a link requests the next interrupt after the link's last request
# has completed. The completion queue is freed after that, although a request for an
# interrupt takes 50 ms here and the link has drained before.
#
# needs: smp
# timeout: 120
# tags: race lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

ROUNDS=4
RNICSIM=/sys/kernel/debug/rnicsim/$(rnic 0)

server() {
	local i
	smc_reset
	# completions of both hosts come on different processors: a worker that stops a link is on one of them
	echo 3 > "$RNICSIM/cq_cpu"
	for i in $(seq $ROUNDS); do
		bg "$PROG/xfer" server 5000 send=10k recv=10k
		poll 10 listening 5000
		mark "up$i"
		check "round $i: server" wait "$BG"
		echo 50000000 > "$RNICSIM/cq_arm"
		barrier "end$i"
		check "round $i: the link group has ended" eventually 20 no_group
		echo 0 > "$RNICSIM/cq_arm"
		barrier "over$i"
	done
	smc_was "$ROLE" $ROUNDS $ROUNDS
}

client() {
	local i
	smc_reset
	echo 2 > "$RNICSIM/cq_cpu"
	for i in $(seq $ROUNDS); do
		await "up$i"
		check "round $i: client" "$PROG/xfer" client "$PEER" 5000 send=10k recv=10k
		echo 50000000 > "$RNICSIM/cq_arm"
		barrier "end$i"
		"$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
		check "round $i: the link group has ended" eventually 20 no_group
		echo 0 > "$RNICSIM/cq_arm"
		barrier "over$i"
	done
	smc_was "$ROLE" $ROUNDS $ROUNDS
}
