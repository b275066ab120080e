# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An adapter without a key for all DMA memory: each protection domain has a region of the
# RDMA core, which is freed with it. A fault that refuses to deregister regions does not
# apply to that one, whether the domain is freed by its owner or, after another region of
# it was refused, with the device: nothing is used after it is freed, and the core reports
# nothing.
#
# timeout: 60
# tags: rmb
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

PARAM=/sys/module/rnicsim/parameters/local_lkey
FAULT=/sys/kernel/debug/rnicsim/$(rnic 0)/fault/dereg_mr
usable() { rdma link show "$(rnic 0)/1" | grep -q 'state ACTIVE'; }
gone() { [ ! -e "$FAULT" ]; }

# again NAME KEY: both hosts have a new device
again() {
	rnic_delete 0
	poll 10 gone
	barrier "gone-$1"
	[ "$ID" != 1 ] || echo "$2" > "$PARAM"
	barrier "set-$1"
	rnic_add 0
	poll 10 usable
	barrier "back-$1"
}

# once NAME: a connection, and the end of its group
once() {
	local i
	smc_reset
	if [ "$ID" = 1 ]; then
		bg "$PROG/xfer" server 5000 send=100k recv=100k
		poll 10 listening 5000
		mark "listens-$1"
		check "$1: server" wait "$BG"
	else
		await "listens-$1" 20
		check "$1: client" "$PROG/xfer" client "$PEER" 5000 send=100k recv=100k
	fi
	smc_was "$1" 1 1
	barrier "done-$1"
	[ "$1" != refused ] || [ "$ID" = 1 ] || echo 1+ > "$FAULT"
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		"$SMCCTL" linkgroup delete "$i" || :
	done
	check "$1: its group ends" eventually 20 no_group
}

all() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local old
	old=$(<"$PARAM")
	barrier begin
	again lkey 0
	once usual
	# the next region to be freed is the domain's own
	[ "$ID" = 1 ] || echo 1 > "$FAULT"
	again own 0
	# memory that smcr gives up then is a leak for the debug kernel
	if [ "$KERNEL" = um ]; then
		once refused
		[ "$ID" = 1 ] || check "a region was refused ($(<"$FAULT"))" grep -qv 'fired 0' "$FAULT"
	fi
	again refused "$old"
	once afterwards
}
server() { all; }
client() { all; }
