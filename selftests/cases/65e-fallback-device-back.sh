# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A listener outlives its RDMA device: without one it takes connections over TCP and
# no longer answers that it can do SMC-R; with the first connection after the device
# is back, it does.
#
# covers: T-15
# timeout: 60
# lanes: uml qemu
# tags: fallback tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

X=$PROG/xfer

# step NAME: one connection of the listener's
step() {
	smc_reset
	mark "$1"
	await "$1.end" 40
}

server() {
	bg "$X" server 5000 conns=5 send=50k recv=30k
	local pid=$BG
	poll 10 listening 5000
	step with
	smc_was with 1 1
	rnic_delete 0
	# the first finds it gone; to the second nothing is offered
	step gone
	tcp_was gone 1
	step without
	tcp_was without 1
	rnic_add 0
	poll 20 rnic_usable 0 || fail "the device does not come back"
	step back
	smc_was back 1 1
	step again
	smc_was again 1 1
	check "server" wait "$pid"
}

client() {
	local name
	for name in with gone without back again; do
		await "$name" 40
		smc_reset
		check "$name: client" "$X" client "$PEER" 5000 send=30k recv=50k
		case $name in
		gone|without) tcp_was "$name" 1 ;;
		*) smc_was "$name" 1 1 ;;
		esac
		mark "$name.end"
	done
}
