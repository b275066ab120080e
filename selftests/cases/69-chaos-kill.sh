# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# At thirty random moments of a connection's life, from the handshake to bulk data in both
# directions, one side's process is killed; the other side gets an error or the end in
# time, and nothing is left.
#
# covers: CONN-37 CONN-27 CONN-38 MISC-20
# timeout: 240
# lanes: uml qemu
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((30 / DEAR))

# end_of PID: the exit status of a process that has to end by itself
end_of() {
	poll 15 gone "$1" || return 99
	wait "$1"
}

side() {
	local i pid rc ms
	for ((i = 0; i < N; i++)); do
		# every other one within the first contact or soon after it
		if ((i % 4 < 2)); then ms=$((RANDOM % 30 * SLOW)); else ms=$((RANDOM % 700)); fi
		if [ "$ROLE" = server ]; then
			bg "$PROG/xfer" server $((6000 + i)) endless=1 idle=$((12000 * SLOW))
			pid=$BG
			poll 10 listening $((6000 + i))
			mark "up$i"
		else
			await "up$i" 40
			bg "$PROG/xfer" client "$PEER" $((6000 + i)) endless=1 idle=$((12000 * SLOW))
			pid=$BG
			mark "go$i"
		fi
		if [ $((i % 2)) = $((ID % 2)) ]; then
			[ "$ROLE" = client ] || await "go$i" 40
			nap "0.$(printf %03d "$ms")"
			kill -KILL "$pid"
			wait "$pid" 2>/dev/null || :
			mark "killed$i" "$ms"
		else
			await "killed$i" 60
			rc=0
			end_of "$pid" || rc=$?
			eq "point $i ($MARK ms): the survivor ($ROLE) sees an error or the end" "$rc" 0
		fi
		barrier "end$i" 60
	done
	check "every connection is released" eventually 40 smc_idle
	echo "timers: $(smc_sum timer-close timer-abort)"
}

# the seed is in the log: seed=NUMBER
server() {
	local seed=${SRANDOM:0:9}
	mark seed "$seed"
	RANDOM=$seed
	echo "seed=$seed"
	side
	check "enough of them got to SMC-R ($(smc_servers) of $N)" test "$(smc_servers)" -ge $((N / 2))
}
client() {
	await seed
	RANDOM=$MARK
	echo "seed=$MARK"
	side
}
