# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a thread hangs in a page fault that is never answered, with the lock of
# its SMC-R connection held, while that connection's RDMA device is removed. After smc.sh
#
#	stuck_begin, stuck_end		on the side with the threads
#	stuck_serve KIND		the peer of a connection, until the mark over.KIND; calls
#					the case's stuck_peer KIND, if any; its process is $BG
#	stuck_hangs KIND		a thread hangs, see stuck.c; $STUCK is its process
#	stuck KIND			the same with a connection of stuck_serve
#	stuck_remove KIND CARD		the device is removed, in time
#	stuck_over KIND CARD		the thread is killed, the device comes back

# UML has no userfaultfd: smcr_page takes its place
stuck_begin() { [ "$LANE" != uml ] || insmod "$TREE/build/mod/$KERNEL/smcr_page.ko"; }
stuck_end() { [ "$LANE" != uml ] || rmmod smcr_page; }

stuck_serve() {
	local data=send:100
	[ "$1" != oob ] || data=oob:x
	bg "$PROG/sockcmd" limit:60 socket listen:6000 slot:1 accept:0 $data recv:1=any close
	poll 10 listening 6000
	mark "ready.$1"
	! declare -F stuck_peer >/dev/null || stuck_peer "$1"
	await "over.$1" 90
	wait "$BG" || :
}

stuck_hangs() {
	bg "$PROG/stuck" "$PEER" 6000 1 "$1"
	STUCK=$BG _stuck_log=$CASEDIR/$ROLE-bg$_nbg.log
	poll 20 grep -q "^stuck 1" "$_stuck_log" || fail "the thread does not hang: $(cat "$_stuck_log")"
}

stuck() {
	await "ready.$1" 30
	smc_reset
	stuck_hangs "conn-$1"
	smc_was "$1" 1 1
}

stuck_remove() {
	bg rnic_delete "$2"
	_stuck_rnic=$BG
	check "$1: the device is removed" eventually 6 gone "$_stuck_rnic"
}

stuck_over() {
	eq "$1: threads that came back" "$(grep -c gave "$_stuck_log")" 0 || :
	kill "$STUCK"
	check "$1: it can be killed" eventually 20 gone "$STUCK"
	poll 30 gone "$_stuck_rnic" || fail "$1: the device is not removed"
	rnic_add "$2"
	# another card is known to be usable when the next link is made over it
	[ "$2" != 0 ] || poll 10 rnic_usable 0 || fail "$1: the device is not back"
	mark "over.$1"
}
