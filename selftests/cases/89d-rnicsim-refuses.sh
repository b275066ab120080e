# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An adapter fails one operation of a first contact, each in turn, on either side: the
# data are carried all the same, by TCP or, where less is enough (inline data, memory of
# an RMB), by RDMA. Nothing is left behind, and the next connection is over SMC-R. Every
# fault that was set has happened.
#
# covers: CLC-28 CLC-53 CLC-57 CLC-60
# timeout: 120
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# point:when of the fault; with a plus if SMC-R is used all the same
STEPS='alloc_pd:1 create_cq:1 create_qp:1+ create_qp:1x2 to_init:1 to_rtr:1 to_rts:1 alloc_mr:1+ alloc_mr:1x30 map_mr:1+ map_mr:1x30 reg_mr:1 post_recv:1'
FAULT=/sys/kernel/debug/rnicsim/$(rnic 0)/fault

# xfer NAME: a connection
xfer() {
	local rc=0
	barrier "begin-$1"
	if [ "$ID" = 1 ]; then
		bg "$PROG/xfer" server 5000 send=100k recv=100k
		poll 10 listening 5000
		mark "listens-$1"
		wait "$BG" || rc=$?
	else
		await "listens-$1" 20
		"$PROG/xfer" client "$PEER" 5000 send=100k recv=100k || rc=$?
	fi
	eq "$1: data" "$rc" 0
}

# one HOST STEP: with the fault on that host
one() {
	local host=$1 step=$2 what point when
	what=${step%+} point=${what%:*} when=${what#*:}
	# a queue pair without inline data is no second choice where the device has not the 64 bytes that are asked for first
	[ "$point" != create_qp ] || [ "$(<"${FAULT%/fault}/max_inline")" -ge 64 ] || step=$what
	poll 20 no_group
	smc_reset
	[ "$ID" != "$host" ] || echo "$when" > "$FAULT/$point"
	xfer "$host $step"
	if [ "$step" != "$what" ]; then smc_was "$host $step" 1 1; else tcp_was "$host $step" 1; fi
	if [ "$ID" = "$host" ]; then
		check "$host $step: it happened ($(<"$FAULT/$point"))" grep -qv 'fired 0' "$FAULT/$point"
		echo 0 > "$FAULT/$point"
	fi
	smc_reset
	xfer "$host $step, then none"
	smc_was "$host $step, then none" 1 1
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		"$SMCCTL" linkgroup delete "$i" || :
	done
}

all() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local host step
	for host in 1 2; do
		for step in $STEPS; do one $host "$step"; done
	done
	poll 20 no_group
}
server() { all; }
client() { all; }
