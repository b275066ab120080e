# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A queue pair goes from RESET over INIT, RTR, RTS and ERR to RESET: the device
# and the kernel's resource table show it; transitions and posts that the state
# does not allow are refused; in ERR all requests are flushed. Soft RoCE has
# exactly the exceptions that are named below.
#
# module: none
# timeout: 60
# lanes: uml qemu
# needs: plain
# tags: rdma
# fabric: roce -- rxe: it names what soft RoCE does otherwise
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"

server() {
	local rc=0
	_name=qp_walk
	"$RDMA/qp_walk" device=rxe0 kernel=1 "$_limit" > "$CASEDIR/qp_walk.out" 2>&1 || rc=$?
	said "$CASEDIR/qp_walk.out" $rc
	# recv-in-err-kept: a receive request posted in ERR stays in the queue.
	# refused-send-kept: a send request that was refused is executed later, in RTS.
	eq "exceptions of soft RoCE" "$(sed -n 's/^exception \([^:]*\):.*/\1/p' "$CASEDIR/qp_walk.out" | sort | tr '\n' ' ')" \
		"recv-in-err-kept refused-send-kept "
	eq "states, as the kernel's table has them" \
		"$(sed -n "s/^ok .* the kernel's table[^:]*: //p" "$CASEDIR/qp_walk.out" | tr '\n' ' ')" \
		"- INIT RTR RTS ERR RESET "
}
