# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Unmapping or syncing memory of the simulated RNIC with another size, start or direction
# than it was mapped with is logged, which would fail every case; correct use is not. A
# region that the device did not deregister is unmapped when the device is removed, also
# one that begins inside a page: nothing is reported as still mapped. Not on the debug
# kernel, which has DMA_API_DEBUG for all of that.
#
# timeout: 60
# module: none
# needs: uml plain
# tags: sim-plain
# allow-klog: rnicsim.*: (sync|unmap) of 5[0-9]* bytes at 0x[0-9a-f]*, .* not mapped -- the module maps wrongly on purpose

MOD=$TREE/build/mod/$KERNEL/smcr_dma.ko
gone() { ! rdma link show own0/1; }

# lines: number of the device's reports about mappings
lines() { dmesg | grep -cE 'rnicsim.*: (.* not mapped|.* still mapped)' || :; }

# wrong WHAT LINES
wrong() {
	local before
	before=$(lines)
	check "$1" insmod "$MOD" dev=own0 what="$1"
	rmmod smcr_dma
	eq "$1: lines in the log" $(($(lines) - before)) "$2"
}

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	[ "$(</sys/module/rnicsim/parameters/shadow)" = 1 ] || skip "no mappings of its own"
	local before
	ip link add own0 type dummy
	ip link set own0 up
	rdma link add own0 type rnicsim netdev own0
	wrong right 0
	wrong size 2
	wrong dir 2
	wrong start 2
	wrong sync_size 4
	wrong sync_dir 4
	before=$(lines)
	echo 1 > /sys/kernel/debug/rnicsim/own0/fault/dereg_mr
	check "a region is kept" insmod "$MOD" dev=own0 what=kept
	rdma link delete own0
	poll 5 gone
	rmmod smcr_dma
	eq "what it had is not mapped any more" $(($(lines) - before)) 0
	ip link delete own0
}
