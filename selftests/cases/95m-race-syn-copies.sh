# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A processor decides whether a SYN-ACK gets the option while another one answers a copy of the SYN.
# The SYN-ACKs are alike: else a client goes on over TCP while the server waits for its Proposal.
#
# covers: T-11
# needs: uml smp latch
# timeout: 60
# tags: race clc tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

STRANGER=10.77.0.99	# the SYN's sender: nothing answers a SYN-ACK there

server() {
	local mac held=
	taskset -p 1 $BASHPID > /dev/null
	[ "$(tcpopt_backend)" = native ] || held=yes	# TCP itself decides when the SYN comes
	await up
	mac=$(<"$CASEDIR/mac")
	ip neigh replace "$STRANGER" lladdr "$mac" dev eth0 nud permanent
	bg "$PROG/sockcmd" limit:30 socket listen:5000 slot:1 accept:0 close
	poll 10 listening 5000
	[ -z "$held" ] || latch tcpopt-decide
	cp /sys/class/net/eth0/address "$CASEDIR/address"
	mark ready
	[ -z "$held" ] || holds tcpopt-decide
	: > "$CASEDIR/go"
	await sent
	[ -z "$held" ] || unlatch tcpopt-decide
	await over
	kill "$BG"
	ip neigh del "$STRANGER" dev eth0
}

client() {
	local log
	taskset -p 1 $BASHPID > /dev/null	# the other one is busy
	cp /sys/class/net/eth0/address "$CASEDIR/mac"
	mark up
	await ready
	bg python3 "$PROG/syncopies.py" eth0 "$STRANGER" "$PEER" 5000 "$(<"$CASEDIR/address")" "$CASEDIR/go"
	log=$CASEDIR/client-bg$_nbg.log
	poll 20 grep -q sent "$log"
	mark sent
	poll 20 grep -q SYN-ACKs "$log"
	check "alike, $(tail -n 1 "$log")" wait "$BG" || :
	mark over
}
