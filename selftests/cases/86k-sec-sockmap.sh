# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A BPF sockops program puts passive connections into a sockmap, from which others could
# redirect their data, before the listener gets them: they run over TCP for this reason,
# and all their data arrive, also when the program and its map are removed while a
# connection lives. Without them there is SMC-R again.
#
# covers: T-14
# timeout: 60
# tags: security
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=4
MANY=10000	# both ways in turn: with a sockmap recv() gives EAGAIN when a writer is woken

# serve NAME PORT [CALL...]: N connections; the calls come in the midst of the last one
serve() {
	local i pid calls=()
	for ((i = 1; i < N; i++)); do calls+=(slot:1 accept:0 "recv:$MANY" "send:$MANY" recv:1=eof close); done
	calls+=(slot:1 accept:0 "recv:$MANY" "send:$MANY" "${@:3}" "recv:$MANY" "send:$MANY" recv:1=eof close)
	smc_reset
	bg "$PROG/sockcmd" limit:20 slot:0 socket "listen:$2:8" "mark:up.$1" "${calls[@]}"
	pid=$BG
	check "$1: server" wait "$pid"
}

counted() { [ "$(wc -l < "$log")" -gt 1 ]; }
# the program and its map go in the midst of a connection, when its sockets were counted
drop() {
	await half 20
	echo > /run/ask
	poll 5 counted
	kill "$ops"
	poll 10 gone "$ops"
	mark dropped
}

server() {
	local why ops log
	serve before 5000
	smc_was before $N $N
	mkfifo /run/ask
	exec 7<> /run/ask
	bg bash -c "exec '$PROG/sockops' /sys/fs/cgroup < /run/ask"
	ops=$BG log=$CASEDIR/server-bg2.log
	poll 10 grep -q attached "$log"
	why=$(smc_sum sockmap)
	bg drop
	serve mapped 5001 mark:half await:dropped
	tcp_was mapped $N
	eq "for this reason" "$(($(smc_sum sockmap) - why))" $N
	echo "in the map: $(tail -1 "$log")"
	check "a connection was in the map" test "$(tail -1 "$log")" -ge 1
	serve after 5002
	smc_was after $N $N
	check "every connection is released" eventually 20 smc_idle
}

client() {
	local i k calls
	for k in before:5000 mapped:5001 after:5002; do
		calls=()
		for ((i = 1; i <= N; i++)); do calls+=(socket "connect:$PEER:${k#*:}" "send:$MANY" "recv:$MANY"); [ "$i" = "$N" ] || calls+=(close); done
		await "up.${k%:*}" 40
		# in the midst of the last one the program and its map go
		check "${k%:*}" "$PROG/sockcmd" limit:20 "${calls[@]}" "send:$MANY" "recv:$MANY" close
	done
}
