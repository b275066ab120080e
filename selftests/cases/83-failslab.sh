# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Memory runs out at every two-hundredth, fiftieth, tenth allocation that the module makes
# or causes below it, in system calls, work items and interrupts, at the client, the
# server and both: each failure is returned as an error, nothing hangs, no byte is wrong,
# and afterwards everything works as before.
#
# covers: MISC-20
# timeout: 150
# lanes: uml
# needs: fault
# tags: fault
# allow-klog: warn_alloc\+ -- vmalloc() tells of a failure at length
# allow-klog: ref_tracker: memory allocation failure -- its own memory; the reference is counted
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
F=/sys/kernel/debug/failslab
MANY=1000000

address() { awk -v name="$1" '$3 == name { print $1 }' /proc/kallsyms; }

# fails_setup: allocations with a function of the module on the stack
fails_setup() {
	local range
	mapfile -t range < <(awk '$4 == "[smcr]" && tolower($2) == "t" { print $1 }' /proc/kallsyms | sort | sed -n '1p;$p')
	[ ${#range[@]} = 2 ] || fail "the module's symbols are not there"
	echo 0 > $F/probability
	echo N > $F/task-filter
	echo 0 > $F/verbose
	# also those that may sleep
	echo N > $F/ignore-gfp-wait
	echo 32 > $F/stacktrace-depth
	echo "0x${range[0]}" > $F/require-start
	echo "0x${range[1]}" > $F/require-end
	# But not TCP's FIN and RST (the functions are neighbours): TCP makes one
	# only, and the peer waits for ever if that is lost, as over plain TCP.
	range=("$(address tcp_send_fin)" "$(address tcp_send_synack)")
	[ $((0x${range[1]} - 0x${range[0]})) -gt 0 ] || fail "tcp_send_synack is not where it was"
	echo "0x${range[0]}" > $F/reject-start
	echo "0x${range[1]}" > $F/reject-end
	echo $MANY > $F/times
}

# fails EVERY: from here on each EVERYth; 0: none any more
fails() {
	echo 0 > $F/probability
	[ "$1" != 0 ] || return 0
	echo "$1" > $F/interval
	echo $MANY > $F/times
	echo 100 > $F/probability
}
failed_so_far() { echo $((MANY - $(<$F/times))); }

ROUNDS=({client,server,both}.{200,50,10})

# mine ROUND: this side's allocations fail in it
mine() { [ "${1%.*}" = "$ROLE" ] || [ "${1%.*}" = both ]; }

# round_begins ROUND. In the simulation both sides have one module, and the side that
# begins last does not undo what the other has set.
round_begins() {
	if mine "$1"; then fails "${1#*.}"; elif [ "$FABRIC" != sim ]; then fails 0; fi
}

# round_ends ROUND LOG
round_ends() {
	fails 0
	! mine "$1" || check "$1: allocations failed ($(failed_so_far))" test "$(failed_so_far)" -gt 0
}

# sound ROUND LOG: a receive timeout is a hang, -2 are wrong bytes, -3 bytes after the end;
# a handshake whose message was lost for want of memory ends by its timer, T_LLC_FIRST,
# which is shorter than what the program waits
sound() {
	local bad
	bad=$(grep -v "connect: Connection timed out" "$2" |
		grep -E "Resource temporarily|in progress|timed out|(send|receive|rest|reset but|end but) (11|115|110|-2|-3)\b|no byte" |
		head -3 || :)
	eq "$1: no hang and no wrong byte" "$bad" ""
}

server() {
	local r pid log
	fails_setup
	bg "$PROG/stress" server 5000 conns=0 par=8 idle=$((15000 * SLOW))
	pid=$BG log=$CASEDIR/server-bg1.log
	poll 10 listening 5000
	mark ready
	for r in "${ROUNDS[@]}"; do
		await "go.$r" 30
		round_begins "$r"
		mark "set.$r"
		await "did.$r" 60
		round_ends "$r"
		mark "off.$r"
	done
	await healthy 60
	kill "$pid"
	eq "no RST was lost" "$(nstat -asz TcpExtTCPAbortFailed | awk 'END { print $2 }')" 0
	sound server "$log"
	check "every connection is released" eventually 40 smc_idle
}

client() {
	local r rc log
	fails_setup
	await ready
	for r in "${ROUNDS[@]}"; do
		log=$CASEDIR/stress.$r
		mark "go.$r"
		await "set.$r" 20
		round_begins "$r"
		rc=0
		timeout $((50 * SLOW)) "$PROG/stress" client "$PEER" 5000 conns=30 par=4 max=20000 seed="$RANDOM" \
			idle=$((15000 * SLOW)) > "$log" 2>&1 || rc=$?
		round_ends "$r"
		check "$r: it ends ($rc: $(tail -1 "$log"))" test $rc -le 1
		sound "$r" "$log"
		mark "did.$r"
		await "off.$r"
	done
	smc_reset
	check "healthy again" "$PROG/stress" client "$PEER" 5000 conns=20 ends=csh
	smc_was "healthy again" 20 20
	mark healthy
	check "every connection is released" eventually 40 smc_idle
}
