# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP_INFO of a listener, by which servers see their load, counts the connections that
# wait for accept(): over TCP, SMC-R and in fallback.
#
# covers: MISC-06
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/thrice.sh
. "$PROG/thrice.sh"

FINE=$PROG/sockfine.py

server() {
	counts() {
		local port=$2
		bg ${3:+"$SMCCTL" run --} "$FINE" queue "$ME" "$port"
		poll 10 listening "$port"
		mark "$1"
		check "$1: listener" wait "$BG" || :
	}
	thrice_serve counts
}

client() {
	connects() { check "$1: client" ${3:+"$SMCCTL" run --} "$FINE" waiters "$PEER" "$2" || :; }
	thrice_use 3 connects
}
