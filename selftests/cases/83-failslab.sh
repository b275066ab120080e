# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Memory runs out at every tenth, fiftieth, two-hundredth allocation of the
# programs: whatever fails says so, nothing hangs, nothing is lost.
#
# covers: MISC-20 CONN-38
# timeout: 150
# lanes: uml
# kernels: umdbg
# tags: fault wip
# wip: has not had an accepted run in the debug lane
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
F=/sys/kernel/debug/failslab

faults() {
	echo "$1" > $F/probability
	echo 1 > $F/interval
	echo -1 > $F/times
	echo 1 > $F/task-filter
	echo 0 > $F/verbose
	[ ! -e $F/ignore-gfp-wait ] || echo 0 > $F/ignore-gfp-wait
}

# failing CMD...: it, and what it starts
failing() { bash -c 'echo 1 > /proc/self/make-it-fail; exec "$@"' - "$@"; }

server() {
	local p pid n=0
	faults 0
	bg "$PROG/stress" server 5000 conns=0 par=8 idle=8000
	pid=$BG
	poll 10 listening 5000
	for p in client server both workers; do
		await "go.$p" 60
		case $p in server|both) echo 1 > /proc/$pid/make-it-fail 2>/dev/null || :; for t in /proc/$pid/task/*; do echo 1 > "$t/make-it-fail"; done; faults 3 ;; esac
		case $p in workers) for t in $(pgrep kworker); do echo 1 > "/proc/$t/make-it-fail" 2>/dev/null || :; done; faults 3 ;; esac
		mark "set.$p"
		await "did.$p" 100
		faults 0
		for t in /proc/$pid/task/* $(pgrep kworker | sed s,^,/proc/,); do echo 0 > "$t/make-it-fail" 2>/dev/null || :; done
	done
	await healthy 60
	kill "$pid"
	check "every connection is released" eventually 40 smc_idle
}

client() {
	local p rc
	faults 0
	poll 20 reach
	for p in client server both workers; do
		case $p in client|both) faults 3 ;; esac
		case $p in workers) for t in $(pgrep kworker); do echo 1 > "/proc/$t/make-it-fail" 2>/dev/null || :; done; faults 3 ;; esac
		mark "go.$p"
		await "set.$p" 20
		rc=0
		timeout $((30 * SLOW)) bash -c 'if [ "$1" = y ]; then echo 1 > /proc/self/make-it-fail; fi; shift; exec "$@"' - \
			"$([ $p = client ] || [ $p = both ] && echo y)" \
			"$PROG/stress" client "$PEER" 5000 conns=60 par=4 max=20000 seed=$RANDOM idle=8000 > "$CASEDIR/stress.$p" 2>&1 || rc=$?
		faults 0
		for t in $(pgrep kworker); do echo 0 > "/proc/$t/make-it-fail" 2>/dev/null || :; done
		check "$p: no hang (exit $rc, $(tail -1 "$CASEDIR/stress.$p"))" test $rc != 124 || :
		mark "did.$p"
	done
	check "healthy again" "$PROG/stress" client "$PEER" 5000 conns=20 ends=csh
	mark healthy
	check "every connection is released" eventually 40 smc_idle
}
reach() { ping -q -c1 -W1 "$PEER" > /dev/null; }
