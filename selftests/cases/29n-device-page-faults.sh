# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thread hangs in a page fault that is never answered, in a call on an SMC-R
# connection, and has the lock of its socket: sending, receiving, setting and getting
# options, in each way in which memory of the program is copied. The RDMA device is
# removed all the same, in its usual time, the thread can be killed, and the device is
# used again when it is back.
#
# covers: MISC-16
# timeout: 120
# tags: lgr vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"

KINDS=(recv send linger filter oob inq savedsyn ttl getfilter)

server() {
	local kind
	stuck_begin
	for kind in "${KINDS[@]}"; do
		stuck "$kind"
		stuck_remove "$kind" 0
		stuck_over "$kind" 0
	done
	stuck_end
}

client() {
	local kind
	for kind in "${KINDS[@]}"; do stuck_serve "$kind"; done
}
