# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# SO_COOKIE is by what ss and BPF programs know the TCP connection, and SO_INCOMING_CPU
# is its last one: over TCP, SMC-R and in fallback.
#
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

FINE=$PROG/sockfine.py

server() {
	accepts() {
		local port=$2
		bg ${3:+"$SMCCTL" run --} "$FINE" cookies "$ME" "$port"
		poll 10 listening "$port"
		mark "$1"
		check "$1: listener and accepted socket" wait "$BG" || :
	}
	accepts TCP 5000
	accepts SMC-R 5001 smc
	await SMC-R.over
	echo 0 > /proc/sys/net/smcr/enabled
	accepts fallback 5002 smc
}

client() {
	smc_reset
	await TCP
	check "TCP: client" "$FINE" cookie "$PEER" 5000 || :
	await SMC-R 30
	check "SMC-R: client" "$SMCCTL" run -- "$FINE" cookie "$PEER" 5001 || :
	smc_was client 1 1
	mark SMC-R.over
	await fallback 30
	check "fallback: client" "$SMCCTL" run -- "$FINE" cookie "$PEER" 5002 || :
}
