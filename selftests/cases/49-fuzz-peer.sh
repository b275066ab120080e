# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A hostile peer: random damage to every message of the protocol, random messages at
# random times, RDMA where it does not belong, in both roles. The module may end the
# connection, the link or the handshake as it likes, but must go on itself, and the
# connection of a well-behaved peer works all the time. The seed is in the log; SEED=n in
# the runner's environment repeats it, and `fuzz N 10 1` in a puppet script repeats the
# attack with number N in the puppet's log.
#
# covers: SEC-10 SEC-11
# module: ours ours
# timeout: 150
# needs: synopt
# allow-klog: bytes that the peer did not announce -- test builds report what a hostile peer writes there
# tags: puppet fuzz slow
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

LONG=30		# seconds in each role, the same on slow kernels
ROUNDS=120	# of the neighbours' conversation
# in virtual time much more happens in a second
[ "$FABRIC" != sim ] || LONG=$((LONG / DEAR)) ROUNDS=$((ROUNDS / DEAR))

# What the attackers leave behind has to be gone soon, and is not to be large. The
# neighbours are connected already.
hurry() { fast t_clc=300 t_llc_first=300 t_llc=300 t_abort=200 t_close=300 t_lgr_idle=1000 qp_timeout=13 rmem=16384; }

# A peer that sends something now and then, and the program at the other end.
conversation() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		printf '%s\n' "tx data len=3000" "rx data len=3000 consume" "sleep 250ms"
		[ $i != 0 ] || echo "mark $1"
	done
	echo "close"
}
replies() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do echo recv:3000 send:3000; done
	echo recv:1=eof close
}

idle() { [ "$(counter conn-created)" = "$(counter conn-freed)" ]; }

# aftermath: what has to be true of a module that was attacked.
aftermath() {
	check "no connection is left" poll 20 idle
	check "attackers got as far as a connection" test "$(counter "$1-first-contacts")" -gt 50
}

server() {
	local seed=${SEED:-$((RANDOM * 32768 + RANDOM))} victim
	echo "seed $seed"

	# --- the module is the server
	bg "$PROG/victim" server 5000 1000
	victim=$BG
	poll 10 listening 5000
	# shellcheck disable=SC2046
	app_bg limit:60 socket listen:5001 slot:1 accept:0 $(replies)
	poll 10 listening 5001
	mark up "$seed"
	await near1
	hurry
	mark go1 "$seed"
	app_end "the neighbour's program"
	await over1 120
	kill -TERM "$victim"
	check "the victim went on" wait "$victim"
	aftermath server

	# --- the module is the client, over there
	pup_bg -t 300 < <(
		echo "listen 5003"
		echo "mark up2"
		echo "set peer_id=ffff525400000001"
		echo "accept"
		echo "first_contact"
		conversation near2
	)
	await go2
	pup "attacks on a client" <<-E
		listen 5002
		mark up3
		fuzz $((seed + 1000000)) $LONG
	E
	pup_end "a neighbour of the attacks on a client"
	mark over2
}

client() {
	local victim
	await up
	pup_bg -t 300 < <(
		echo "set peer_id=ffff525400000002"
		echo "connect $PEER 5001"
		echo "first_contact"
		conversation near1
	)
	await go1
	pup "attacks on a server" <<-E
		let addr=$PEER port=5000
		fuzz $MARK $LONG
	E
	pup_end "a neighbour of the attacks on a server"
	mark over1

	await up2 60
	# shellcheck disable=SC2046
	app_bg limit:60 socket "connect:$PEER:5003" $(replies)
	await near2
	hurry
	mark go2
	await up3
	bg "$PROG/victim" client "$PEER" 5002 1000
	victim=$BG
	app_end "the neighbour's program"
	await over2 120
	kill -TERM "$victim"
	check "the victim went on" wait "$victim"
	aftermath client
}
