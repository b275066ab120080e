# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# After shutdown() both ways arriving data are dropped, even while the peer has unread
# data. A recv() between the arrival and the drop copies bytes that the peer may write
# over: it returns none of them.
#
# needs: uml smp latch
# timeout: 90
# tags: race conn
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

SOCKCMD=$PROG/sockcmd
RING=16380	# of an element of 16 KiB
again() { [ "$(smc_sum bytes-rx)" -gt $((2 * RING)) ]; }

server() {
	# data arrive on processor 1; the reader and this shell are on the other one
	echo 3 > "/sys/kernel/debug/rnicsim/$(rnic 0)/cq_cpu"
	taskset -pc 0 $BASHPID > /dev/null
	echo 16384 > /proc/sys/net/smcr/rmem
	bg "$SOCKCMD" limit:60 socket listen:5000 mark:up slot:1 accept:0 nonblock fill=any block shut:rdwr mark:shut \
		await:arrived recvsome:$RING=eof mark:over close
	await shut
	smc_reset
	latch rx-drop
	latch rx-copy
	mark latched
	holds rx-drop
	mark arrived
	holds rx-copy
	unlatch rx-drop
	check "the peer has written over it" eventually 20 again
	unlatch rx-copy
	check "server" wait "$BG"
}

client() {
	echo 16384 > /proc/sys/net/smcr/rmem
	await up
	smc_reset
	bg "$SOCKCMD" limit:60 socket "connect:$PEER:5000" await:latched nonblock fill=any await:over close
	check "client" wait "$BG"
	smc_was "client" 1 1
}
