# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One side's process is killed at a random moment under traffic in both
# directions; the other side learns of it in time and nothing is left.
#
# covers: CONN-37 CONN-27 CONN-38 MISC-20
# timeout: 240
# lanes: uml qemu
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=30
# point I: ms until the kill; the same on both sides
point() { echo $(((($1 * 7919 + 13) % 37) * ($1 % 3 ? 4 : 20))); }

# end_of PID: the exit status of a process that has to end by itself
end_of() {
	gone() { ! kill -0 "$1" 2>/dev/null; }
	poll 15 gone "$1" || return 99
	wait "$1"
}

side() {
	local i pid rc
	for ((i = 0; i < N; i++)); do
		if [ "$ROLE" = server ]; then
			bg "$PROG/xfer" server $((6000 + i)) endless=1 idle=$((12000 * SLOW))
			pid=$BG
			poll 10 listening $((6000 + i))
			mark "up$i"
		else
			await "up$i" 40
			bg "$PROG/xfer" client "$PEER" $((6000 + i)) endless=1 idle=$((12000 * SLOW))
			pid=$BG
		fi
		if [ $((i % 2)) = $((ID % 2)) ]; then
			[ "$ROLE" = client ] || poll 10 test -e "$CASEDIR/mark.go$i" || :
			nap "0.$(printf %03d $(($(point $i) % 1000)))"
			kill -KILL "$pid"
			wait "$pid" 2>/dev/null || :
			mark "killed$i"
		else
			[ "$ROLE" = server ] || mark "go$i"
			await "killed$i" 60
			rc=0
			end_of "$pid" || rc=$?
			eq "point $i ($(point $i) ms): the survivor sees an error or the end" "$rc" 0 || :
		fi
		barrier "end$i" 60
	done
	check "every connection is released" eventually 40 smc_idle
	echo "timers: $(smc_sum timer-close timer-abort)"
}
server() { side; }
client() { side; }
