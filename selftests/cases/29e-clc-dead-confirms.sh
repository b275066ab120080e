# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two thousand first contacts, each with a peer ID of its own, send a Confirm that names a
# queue pair which does not exist. Six hundred of them at a time, the share of their
# address, have a group, more than there ever were workers; the others are declined as
# first-limit. Another host that has a group is served as fast as without them, and so are
# connections that the attacked host makes.
#
# covers: SEC-13
# module: ours ours
# memory: 2048
# timeout: 120
# needs: synopt
# tags: puppet clc stress nodebug
# fabric: roce -- kernel: of namespaces only the first one may have so many first contacts
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/usual.sh
. "$PROG/usual.sh"

PORTS=(5001 5002 5003 5004)
EACH=500
LIMIT=600

# attack PORT: all their Proposals, then all their Confirms
attack() {
	local i
	for ((i = 0; i < EACH; i++)); do
		printf 'set peer_id=%04x525400000002\n' $(($1 % 16 * 4096 + i + 1))
		echo "conn s$i"
		echo "connect $PEER $1"
		echo "tx proposal"
	done
	echo "mark held$1"
	echo "await confirm 60s"
	echo "set index=1"	# each in a group of its own
	echo "qp create"
	for ((i = 0; i < EACH; i++)); do
		printf 'set peer_id=%04x525400000002\n' $(($1 % 16 * 4096 + i + 1))
		echo "conn s$i"
		echo "tx confirm qpn=0xfff000 expect=any"
	done
	echo "mark confirmed$1"
	echo "await over 60s"
	echo "qp destroy"
}

forming() { "$SMCCTL" -j linkgroup | jq '[.. | objects | select(.state? == "forming")] | length'; }

server() {
	# t_clc: time for the Confirms; a dead queue pair is noticed after 7.5 s
	fast t_clc=60000 t_llc_first=40000 qp_timeout=18 max_first_contacts=$((4 * LIMIT))
	usual_serve 5000
	for port in "${PORTS[@]}"; do
		bg "$SOCKCMD" limit:100 socket "listen:$port:1200" await:over close
		poll 10 listening "$port"
	done
	await serving
	usual_before "$PEER" 5010
	mark up
	await attacked 80
	# the puppets are done when their kernel has the bytes, not when this one has
	all() { [ $(($(forming) + $(smc_sum first-limit))) -ge $((EACH * ${#PORTS[@]})) ]; }
	eventually 20 all || :
	eq "first contacts under way" "$(forming)" $LIMIT || :
	eq "the others were declined" "$(smc_sum first-limit)" $((EACH * ${#PORTS[@]} - LIMIT)) || :
	mark confirm
	await confirmed 60
	check "they hold a group, and no worker ($(forming))" test "$(forming)" -gt 512 || :
	usual_now "outgoing" "$PEER" 5010
	mark go
	await honest 60
	none() { [ "$(forming)" = 0 ]; }
	check "and end with their queue pairs" eventually 30 none || :
	mark over
	none() { [ "$("$SMCCTL" -j show | jq '[.. | .handshakes? // empty] | add')" = 0 ]; }
	check "nothing is left" eventually 20 none || :
}

client() {
	local port pids=()
	_synopt
	usual_serve 5010
	mark serving
	await up
	usual_before "$PEER" 5000
	for port in "${PORTS[@]}"; do
		attack "$port" > "$CASEDIR/attack$port"
		bg "$PUPPET" "$CASEDIR/attack$port"
		pids+=("$BG")
	done
	for port in "${PORTS[@]}"; do await "held$port" 60; done
	mark attacked
	for port in "${PORTS[@]}"; do await "confirmed$port" 60; done
	smc_reset
	mark confirmed
	usual_now "incoming" "$PEER" 5000
	await go 60
	mark honest
	for port in "${pids[@]}"; do check "attacker" wait "$port" || :; done
}
