# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A BPF program of a cgroup that refuses an option refuses it to accepted sockets
# as well: over TCP, SMC-R and in fallback.
#
# covers: SEC-14
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/thrice.sh
. "$PROG/thrice.sh"

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
	thrice_serve accepts
	rmdir $G		# and its program
}

client() {
	local words=(sendtext:12345 recvtext:5)
	connects() {
		local family=${3:-tcp}
		check "$1" "$PROG/sockcmd" "socket:$family" "connect:$PEER:$2" "${words[@]}" || :
	}
	thrice_use 1 connects
}
