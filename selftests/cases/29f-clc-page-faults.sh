# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred threads hang in setsockopt() on a socket whose connect() is under way, in a
# page fault that is never answered; half of them hold the lock of the socket. When TCP is
# established there is a handshake for each, more than there ever were workers.
# Connections from and to that host are not delayed, and handshakes whose socket lock is
# free end.
#
# covers: SEC-13
# nics: 2
# timeout: 120
# lanes: qemu
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=300
SOCKCMD=$PROG/sockcmd

server() {
	bg "$SOCKCMD" limit:100 socket:tcp listen:5000:1024 await:over
	bg "$SOCKCMD" limit:100 socket listen:5001 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5000
	poll 10 listening 5001
	mark up
	await backwards 100
	check "incoming" "$SOCKCMD" start socket "connect:$PEER:5002" send:5 recv:5 elapsed:0:4000 close || :
	mark back
	await over 60
}

client() {
	local kind hang=()
	await up
	# TCP's SYNs get lost, so that all the threads hang before its handshake
	ip neigh replace "$(peer 1)" lladdr 02:00:00:00:00:99 dev eth1 nud permanent
	for kind in linger ipopts; do
		bg "$PROG/stuck" "$(peer 1)" 5000 $N "$kind"
		hang+=("$BG")
	done
	all() { [ "$(cat "$CASEDIR"/client-bg[12].log | grep -c "^stuck $N")" = 2 ]; }
	poll 60 all || fail "the threads do not hang"
	ip neigh del "$(peer 1)" dev eth1
	# the next SYN gets through; handshakes of sockets whose thread holds TCP's lock
	# alone end as TCP
	done_() { [ "$(smc_sum peer-no-smc)" -ge "$N" ]; }
	check "handshakes whose lock is free are over" eventually 40 done_ || :
	smc_reset
	check "outgoing" "$SOCKCMD" start socket "connect:$PEER:5001" send:5 recv:5 elapsed:0:4000 close || :
	bg "$SOCKCMD" limit:60 socket listen:5002 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5002
	mark backwards
	await back 60
	smc_was "beside them" 2 2
	eq "threads that came back" "$(grep -c gave "$CASEDIR/client-bg1.log" "$CASEDIR/client-bg2.log" | cut -d: -f2 | paste -sd+ | bc)" 0 || :
	kill "${hang[@]}"
	idle() { [ "$(smc_sum peer-no-smc)" -ge $((2 * N)) ] || ! pgrep -x stuck > /dev/null; }
	check "they can be killed" eventually 30 idle || :
	mark over
}
