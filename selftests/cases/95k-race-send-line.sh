# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A connection finds the send queue full. Before it is queued all that is pending
# completes, on the other processor, and nothing is posted any more: it finds room then,
# and waits for no completion.
#
# covers: CDC-21
# needs: latch smp
# timeout: 90
# tags: race cdc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

N=140		# connections, each with a WRITE and a CDC: more than the 256 of the queue
line() { [ "$(smc_sum tx-send-queue-full)" -ge 1 ]; }

# Completions come on processor 0, and this shell is there, too: the connection is held on the other one
placed() {
	[ "$FABRIC" = sim ] || skip "an adapter that stands still is simulated"
	echo 2 > "/sys/kernel/debug/rnicsim/$RNIC/cq_cpu"
	taskset -pc 0 $BASHPID > /dev/null
}

server() {
	local i calls=() reads=()
	placed
	for ((i = 1; i <= N; i++)); do
		calls+=("slot:$i" accept:0)
		reads+=("slot:$i" recv:5)
	done
	app_bg limit:60 socket listen:5000:400 mark:up "${calls[@]}" slot:$((N + 1)) accept:0 "${reads[@]}" mark:arrived \
		slot:$((N + 1)) recv:5 send:5
	app_end "server"
}

client() {
	local i calls=() sends=()
	placed
	for ((i = 1; i <= N; i++)); do
		calls+=("slot:$i" socket "connect:$PEER:5000")
		sends+=("slot:$i" send:5)
	done
	await up
	smc_reset
	bg taskset -c 1 "$SOCKCMD" limit:60 "${calls[@]}" slot:$((N + 1)) socket "connect:$PEER:5000" mark:open await:cut \
		"${sends[@]}" mark:sent await:latched slot:$((N + 1)) send:5 recv:5
	await open 60
	rdma_cut
	mark cut
	await sent
	check "the send queue is full" line
	latch tx-wait
	mark latched
	holds tx-wait
	rdma_mend
	await arrived
	check "it was held all the time" held tx-wait
	unlatch tx-wait
	check "client" wait "$BG"
	smc_was "client" $((N + 1)) $((N + 1))
}
