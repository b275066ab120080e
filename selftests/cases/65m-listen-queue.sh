# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP_INFO of a listener, by which servers see their load, counts the connections that
# wait for accept(): over TCP, SMC-R and in fallback.
#
# timeout: 60
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

FINE=$PROG/sockfine.py

server() {
	counts() {
		local port=$2
		bg ${3:+"$SMCCTL" run --} "$FINE" queue "$ME" "$port"
		poll 10 listening "$port"
		mark "$1"
		check "$1: listener" wait "$BG" || :
	}
	counts TCP 5000
	counts SMC-R 5001 smc
	await SMC-R.over
	echo 0 > /proc/sys/net/smcr/enabled
	counts fallback 5002 smc
}

client() {
	smc_reset
	await TCP
	check "TCP: client" "$FINE" waiters "$PEER" 5000 || :
	await SMC-R 30
	check "SMC-R: client" "$SMCCTL" run -- "$FINE" waiters "$PEER" 5001 || :
	smc_was client 3 3
	mark SMC-R.over
	await fallback 30
	check "fallback: client" "$SMCCTL" run -- "$FINE" waiters "$PEER" 5002 || :
}
