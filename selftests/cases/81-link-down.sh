# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The card goes down, or loses its address, or its RDMA device, under load: both
# sides see an error in time, and new connections find the device when it is
# back.
#
# covers: CONN-32 CONN-33 LG-44
# timeout: 150
# lanes: uml qemu
# tags: lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# UML's card cannot come back: going down closes its end of the wire for good.
# QEMU does not read for a card that is down, and the peer's QEMU then stops its
# whole guest in a write to the full wire: the card has to come back before the
# peer can send anything.
WHAT="address rdma-client rdma-server"
[ "$LANE" = uml ] || WHAT="down $WHAT"

# A side that waits for the other one's window has nothing pending, and notices a loss by
# TEST LINK only.
knobs() {
	fast t_testlink=2000 t_llc=1000
}

# A side that lost its address cannot notify the other one of the group's end. As long as
# the other one has the group it offers it to new connections, which are rightly declined
# as out of sync and are TCP (RFC 7609 C.4).
no_group() { [ "$("$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | length')" = 0 ]; }

# under_load NAME PID: it has to end by itself
survives() {
	local rc=0
	poll 12 gone "$2" || { check "$1: $ROLE does not hang" false; kill -KILL "$2"; return 0; }
	wait "$2" || rc=$?
	eq "$1: $ROLE sees an error" "$rc" 0
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
			rnic_delete 0
			mark "gone.$w"
		fi
		survives "$w" "$p"
		barrier "ended.$w" 90
		[ "$w" != rdma-server ] || rnic_add 0
		poll 20 rnic_usable 0 || fail "$w: the device does not come back"
		check "$w: the old group ends here" eventually 10 no_group
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
		rdma-client) rnic_delete 0 ;;
		rdma-server) await "gone.$w" 40 ;;
		esac
		survives "$w" "$p"
		if [ "$w" = down ]; then
			ip link set eth0 up
			ip addr add "$ME6/64" dev eth0 nodad	# these are lost
		fi
		barrier "ended.$w" 90
		case $w in
		address) ip addr add "$ME/24" dev eth0; ip addr add "$ME6/64" dev eth0 nodad ;;
		rdma-client) rnic_add 0 ;;
		esac
		poll 20 rnic_usable 0 || fail "$w: the device does not come back"
		reaches() { ping -q -c1 -W1 "$PEER" > /dev/null; }
		poll 20 reaches || fail "$w: the peer does not come back"
		check "$w: the old group ends here" eventually 10 no_group
		barrier "again.$w" 60
		await "up2.$w"
		check "$w: afterwards" "$PROG/xfer" client "$PEER" $((port + 1)) send=100k recv=100k
		smc_was "$w" 2 2
	done
	check "every connection is released" eventually 30 smc_idle
}
