# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The card goes down, or loses its address, or its RDMA device, under load: both
# sides see an error in time, and new connections find the device when it is
# back.
#
# covers: CONN-32 CONN-33 MISC-16 LG-44
# timeout: 150
# lanes: uml qemu
# tags: lifecycle wip
# wip: the census takes the new number of a device that was away for a leak; the first connection afterwards can be TCP
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# UML's card cannot come back: going down closes its end of the wire for good.
WHAT="address rdma-client rdma-server"
[ "$LANE" = uml ] || WHAT="down $WHAT"

# A side that waits for the other one's window has nothing under way, and learns
# from TEST LINK only.
knobs() {
	echo 2000 > /proc/sys/net/smcr/t_testlink
	echo 1000 > /proc/sys/net/smcr/t_llc
}

# under_load NAME PID: it has to end by itself
survives() {
	local rc=0
	poll 12 gone "$2" || { check "$1: $ROLE does not hang" false || :; kill -KILL "$2"; return 0; }
	wait "$2" || rc=$?
	eq "$1: $ROLE sees an error" "$rc" 0 || :
}

server() {
	local w port=5000
	knobs
	for w in $WHAT; do
		port=$((port + 10))
		smc_reset
		bg "$PROG/xfer" server $port endless=1 idle=$((9000 * SLOW))
		local p=$BG
		poll 10 listening $port
		mark "up.$w"
		await "busy.$w" 40
		if [ "$w" = rdma-server ]; then
			rdma link delete rxe0
			mark "gone.$w"
		fi
		survives "$w" "$p"
		barrier "ended.$w" 90
		[ "$w" != rdma-server ] || rdma link add rxe0 type rxe netdev eth0
		barrier "again.$w" 60
		bg "$PROG/xfer" server $((port + 1)) send=100k recv=100k
		p=$BG
		poll 10 listening $((port + 1))
		mark "up2.$w"
		check "$w: afterwards" wait "$p"
		smc_was "$w" 2 2
	done
	check "every connection is released" eventually 30 smc_idle
}

client() {
	local w port=5000
	knobs
	for w in $WHAT; do
		port=$((port + 10))
		smc_reset
		await "up.$w" 60
		bg "$PROG/xfer" client "$PEER" $port endless=1 idle=$((9000 * SLOW))
		local p=$BG
		moving() { [ "$(smc_sum bytes-rx)" -gt "$((before + 1000000))" ]; }
		local before
		before=$(smc_sum bytes-rx)
		poll 20 moving || fail "$w: nothing moves"
		mark "busy.$w"
		case $w in
		down) ip link set eth0 down ;;
		address) ip addr del "$ME/24" dev eth0; ip addr del "$ME6/64" dev eth0 ;;
		rdma-client) rdma link delete rxe0 ;;
		rdma-server) await "gone.$w" 40 ;;
		esac
		survives "$w" "$p"
		barrier "ended.$w" 90
		case $w in
		down) ip link set eth0 up ;;
		address) ip addr add "$ME/24" dev eth0; ip addr add "$ME6/64" dev eth0 nodad ;;
		rdma-client) rdma link add rxe0 type rxe netdev eth0 ;;
		esac
		reaches() { ping -q -c1 -W1 "$PEER" > /dev/null; }
		poll 20 reaches || fail "$w: the peer does not come back"
		barrier "again.$w" 60
		await "up2.$w"
		check "$w: afterwards" "$PROG/xfer" client "$PEER" $((port + 1)) send=100k recv=100k
		smc_was "$w" 2 2
	done
	check "every connection is released" eventually 30 smc_idle
}
