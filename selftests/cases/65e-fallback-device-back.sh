# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A listener outlives its RDMA device. Without one it accepts connections over TCP and no
# longer answers the option; from the first connection after the return of the device on,
# it does. Likewise when the device fails and recovers (simulated RNICs only).
#
# covers: T-15
# timeout: 60
# lanes: uml qemu
# tags: fallback tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

X=$PROG/xfer

STEPS="gone without back again"
[ "$FABRIC" != sim ] || STEPS="$STEPS failed failed-still recovered"

# fatal EVENT: the event that the device reports when its port is queried next
fatal() {
	echo "1 $1" > "/sys/kernel/debug/rnicsim/$(rnic 0)/fault/query_port"
	rdma link show "$(rnic 0)/1" > /dev/null
	cat "/sys/class/infiniband/$(rnic 0)/ports/1/state" > /dev/null
	echo 0 > "/sys/kernel/debug/rnicsim/$(rnic 0)/fault/query_port"
}

before() {
	case $1 in
	gone) rnic_delete 0 ;;
	back) rnic_add 0 && poll 20 rnic_usable 0 ;;
	failed) fatal device_fatal ;;
	recovered) fatal port_active; nap 0.1 ;;
	esac
}

# was NAME
was() {
	case $1 in
	gone|without|failed*) tcp_was "$1" 1 ;;
	*) smc_was "$1" 1 1 ;;
	esac
}

# shellcheck disable=SC2086
server() {
	local name pid
	set -- with $STEPS
	bg "$X" server 5000 conns=$# send=50k recv=30k
	pid=$BG
	poll 10 listening 5000
	for name; do
		before "$name" || fail "$name"
		smc_reset
		mark "$name"
		await "$name.end" 40
		was "$name"
	done
	check "server" wait "$pid"
}

client() {
	local name
	for name in with $STEPS; do
		await "$name" 40
		smc_reset
		check "$name: client" "$X" client "$PEER" 5000 send=30k recv=50k
		was "$name"
		mark "$name.end"
	done
}
