# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# SO_COOKIE is the cookie of the TCP connection in ss and BPF programs, and
# SO_INCOMING_CPU is that connection's last CPU: over TCP, SMC-R and in fallback.
#
# covers: CLC-64 MISC-06
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/thrice.sh
. "$PROG/thrice.sh"

FINE=$PROG/sockfine.py

server() {
	accepts() {
		local port=$2
		bg ${3:+"$SMCCTL" run --} "$FINE" cookies "$ME" "$port"
		poll 10 listening "$port"
		mark "$1"
		check "$1: listener and accepted socket" wait "$BG" || :
	}
	thrice_serve accepts
}

client() {
	connects() { check "$1: client" ${3:+"$SMCCTL" run --} "$FINE" cookie "$PEER" "$2" || :; }
	thrice_use 1 connects
}
