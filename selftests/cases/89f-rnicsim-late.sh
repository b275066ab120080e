# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An adapter fails under a connection with data under way: a receive or a send cannot be
# posted, a completion is an error or comes twice, the device reports itself or its port
# as failed, a further RMB is not registered, the work requests of a queue pair that ends
# are not flushed. The connections of the link group end with an error, their data so far
# are right, the log has the link's failure, and nothing is left behind. The next
# connections use SMC-R as soon as the device reports its port as active, and TCP before.
#
# covers: CLC-57 FO-20 LG-44 MISC-16
# timeout: 500
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

DIR=/sys/kernel/debug/rnicsim/$(rnic 0)
FAULT=$DIR/fault
usable() { rdma link show "$(rnic 0)/1" | grep -q 'state ACTIVE'; }

# HOST:POINT:WHEN:ACTION. A link is the same on both sides.
STEPS='2:tx_write:3:device_fatal 1:post_recv:1030:fail 1:tx_write:3:port_err 2:post_send:60:fail 1:wc_send:60:fail 2:wc_recv:60:fail 1:tx_send:60:qp_fatal'
STEPS+=' 1:wc_send:50:twice 2:wc_recv:112:twice'

# data PORT NAME BYTES CONNS: both ways; the status of this side's program in $rc
data() {
	rc=0
	if [ "$ID" = 1 ]; then
		bg "$PROG/xfer" server "$1" send="$3" recv="$3" conns="$4" par="$4"
		poll 10 listening "$1"
		mark "listens-$2"
		wait "$BG" || rc=$?
	else
		await "listens-$2" 20
		"$PROG/xfer" client "$PEER" "$1" send="$3" recv="$3" conns="$4" par="$4" || rc=$?
	fi
}

# mend: the device's port is active again, with an event
mend() {
	local f
	for f in "$FAULT"/*; do echo 0 > "$f"; done
	echo 0 > "$DIR/paused"
	echo "1 port_active" > "$FAULT/query_port"
	rdma link show "$(rnic 0)/1" > /dev/null
	cat "/sys/class/infiniband/$(rnic 0)/ports/1/state" > /dev/null
	poll 10 usable
	echo 0 > "$FAULT/query_port"
}

# fresh NAME: a connection over SMC-R, by a new group
fresh() {
	smc_reset
	data 5001 "fresh-$1" 50k 1
	eq "$1: a connection afterwards" "$rc" 0
	smc_was "$1: afterwards" 1 1
}

# over NAME: no group is left. Looked at seldom: that costs more than the wait.
over() {
	local i
	nap 7
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		"$SMCCTL" linkgroup delete "$i" || :
	done
	for ((i = 0; i < 12; i++)); do ! no_group || break; nap 5; done
	check "$1" no_group
}

# again NAME: both devices are in order, and SMC-R is there again
again() {
	barrier "mended-$1"
	fresh "$1"
	over "$1: nothing is left"
}

one() {
	local what=$1 host point when action
	IFS=: read -r host point when action <<< "$1"
	barrier "begin-$what"
	[ "$ID" != "$host" ] || echo "$when $action" > "$FAULT/$point"
	data 5000 "$what" 20m 1
	check "$what: it fails ($rc)" test "$rc" != 0
	[ "$ID" != "$host" ] || check "$what: it happened ($(<"$FAULT/$point"))" grep -qv 'fired 0' "$FAULT/$point"
	over "$what: the groups end"
	barrier "ended-$what"
	if [ "$action" = port_err ] || [ "$action" = device_fatal ]; then
		smc_reset
		data 5002 "tcp-$what" 50k 1
		eq "$what: a connection meanwhile" "$rc" 0
		tcp_was "$what: meanwhile" 1
	fi
	[ "$ID" != "$host" ] || mend
	again "$what"
}

# more HOST: an RMB that comes later is not registered
more() {
	local what="$1-more"
	barrier "begin-$what"
	[ "$ID" != "$1" ] || echo "2 fail" > "$FAULT/reg_mr"
	data 5000 "$what" 100k 20
	[ "$ID" != "$1" ] || check "$what: it happened ($(<"$FAULT/reg_mr"))" grep -qv 'fired 0' "$FAULT/reg_mr"
	over "$what: the groups end"
	mend
	again "$what"
}

# stiff HOST: the device flushes nothing, and its queue pair goes all the same
stiff() {
	local what="$1-stiff"
	barrier "begin-$what"
	[ "$ID" != "$1" ] || echo "1+ fail" > "$FAULT/to_err"
	[ "$ID" != "$1" ] || echo "20 pause" > "$FAULT/tx_write"
	data 5000 "$what" 20m 1
	check "$what: it fails ($rc)" test "$rc" != 0
	over "$what: the groups end"
	[ "$ID" != "$1" ] || check "$what: the log says what was not flushed" eventually 5 bash -c "dmesg | grep -q '$(rnic 0) did not flush'"
	mend
	again "$what"
}

# probe POINT: the queue pair that the server creates only in order to offer a second link
probe() {
	fast max_links=1
	barrier "begin-probe-$1"
	smc_reset
	[ "$ID" != 1 ] || echo 2 > "$FAULT/$1"
	data 5003 "probe-$1" 50k 1
	eq "probe $1: data" "$rc" 0
	tcp_was "probe $1" 1
	[ "$ID" != 1 ] || check "probe $1: it happened ($(<"$FAULT/$1"))" grep -qv 'fired 0' "$FAULT/$1"
	over "probe $1: nothing is left"
}

all() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local step rc i
	for step in $STEPS; do one "$step"; done
	more 2
	stiff 1
	probe create_qp
	probe create_cq
}
server() { all; }
client() { all; }
