# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred clients send one byte of a Proposal and then nothing, more than there are
# workers for handshakes. No other connection waits: a first contact with the attacked
# host takes less than 4 s in either direction, also on the attacked port.
#
# covers: CLC-14 CONN-38
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# smcr runs at most 512 works of a queue at a time; a puppet has 512 connections
PORTS=(5001 5002)
EACH=300

held() { "$SMCCTL" -j show | jq '[.. | .handshakes? // empty] | add'; }

server() {
	# longer than the case takes
	fast "t_clc=$([ "$FABRIC" = sim ] && echo 60000 || echo 100000)"	# the most in a namespace
	app_bg limit:100 slot:1 socket listen:5001:1024 slot:2 socket listen:5002:1024 mark:up \
		slot:3 accept:1 recv:5 send:5 recv:1=eof close mark:in await:over
	await attacked 40
	# the puppets are done when their kernel has the bytes, not when this one has
	all() { [ "$(held)" = $((EACH * ${#PORTS[@]})) ]; }
	check "every one of them is in negotiation" eventually 20 all
	smc_reset
	mark go
	await in
	await listening
	app "outgoing" start socket "connect:$PEER:5003" send:5 recv:5 elapsed:0:4000 recv:1=eof close
	smc_was "attacked host" 2 2
	eq "negotiations that still wait" "$(held)" $((EACH * ${#PORTS[@]}))
	mark over
	app_end "server program"
	# close() of the listeners has ended their handshakes
	none() { [ "$(held)" = 0 ]; }
	check "all of them end with their listener" eventually 10 none
}

attack() {
	local i
	for ((i = 0; i < EACH; i++)); do
		echo "conn s$i"
		echo "connect $PEER $1"
		echo "tx proposal cut=1"
	done
	echo "mark held$1"
	echo "await over"
	echo "conn s0"
	echo "rx rst"
}

client() {
	local port pids=()
	await up
	_synopt
	for port in "${PORTS[@]}"; do
		attack "$port" > "$CASEDIR/attack$port"
		bg "$PUPPET" "$CASEDIR/attack$port"
		pids+=("$BG")
	done
	for port in "${PORTS[@]}"; do await "held$port" 40; done
	mark attacked
	await go
	smc_reset
	app "incoming" start socket "connect:$PEER:5001" send:5 recv:5 elapsed:0:4000 close
	app_bg limit:60 socket listen:5003 mark:listening slot:1 accept:0 recv:5 send:5 close
	app_end "server of the outgoing connection"
	await over
	smc_was "honest host" 2 2
	for port in "${pids[@]}"; do check "they were held to the end" wait "$port"; done
}
