# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A BPF program of a cgroup that refuses an option refuses it to accepted sockets
# as well: over TCP, SMC-R and in fallback.
#
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

FINE=$PROG/sockfine.py
G=/sys/fs/cgroup/refuses

server() {
	mkdir -p $G
	bg "$FINE" nodelay $G
	poll 10 grep -q attached "$CASEDIR/server-bg1.log" || fail "no BPF program"
	# shellcheck disable=SC2317
	in_group() {
		echo "$BASHPID" > $G/cgroup.procs
		exec "$@"
	}
	accepts() {
		local port=$2
		bg in_group ${3:+"$SMCCTL" run --} "$FINE" refused "$ME" "$port"
		poll 10 listening "$port"
		mark "$1"
		check "$1: TCP_NODELAY is refused" wait "$BG" || :
	}
	accepts TCP 5000
	accepts SMC-R 5001 smc
	await SMC-R.over
	echo 0 > /proc/sys/net/smcr/enabled
	accepts fallback 5002 smc
	rmdir $G		# and its program
}

client() {
	local words=(sendtext:12345 recvtext:5)
	smc_reset
	await TCP
	check TCP "$PROG/sockcmd" socket:tcp "connect:$PEER:5000" "${words[@]}" || :
	await SMC-R 30
	check SMC-R "$PROG/sockcmd" socket "connect:$PEER:5001" "${words[@]}" || :
	smc_was client 1 1
	mark SMC-R.over
	await fallback 30
	check fallback "$PROG/sockcmd" socket "connect:$PEER:5002" "${words[@]}" || :
}
