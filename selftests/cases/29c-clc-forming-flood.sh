# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The first contact of one client takes long, and six hundred others of the same peer,
# more than there are workers, have to wait for it: other peers do not. The clients that
# wait get an answer in time for a Linux client.
#
# covers: CLC-14 CLC-69
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

EACH=300

server() {
	fast t_clc=60000
	# accept() returns declined ones as TCP: the other peer has a listener of its own
	app_bg limit:100 slot:1 socket listen:5001:512 slot:2 socket listen:5002:512 \
		slot:4 socket listen:5003 mark:up slot:3 accept:4 recv:5 send:5 recv:1=eof close mark:in await:told
	await attacked 60
	mark go
	await in
	mark over
	app_end "server program"
}

# attack PORT HOLD: the first of them gets an Accept and sends no more
attack() {
	local i
	echo "set peer_id=000b525400000002"
	if [ -n "$2" ]; then
		cat <<-E
			conn first
			connect $PEER $1
			tx proposal
			rx accept first=1
			mark first
		E
	fi
	for ((i = 0; i < EACH; i++)); do
		echo "conn s$i"
		echo "connect $PEER $1"
		echo "tx proposal"
	done
	echo "mark held$1"
	echo "await over"
	echo "conn s0"
	echo "rx decline s=0 diag=0x060b0000 4s"
}

client() {
	local port pids=()
	await up
	_synopt
	attack 5001 1 > "$CASEDIR/attack5001"
	attack 5002 "" > "$CASEDIR/attack5002"
	bg "$PUPPET" "$CASEDIR/attack5001"
	pids+=("$BG")
	await first
	bg "$PUPPET" "$CASEDIR/attack5002"
	pids+=("$BG")
	for port in 5001 5002; do await "held$port" 60; done
	mark attacked
	await go
	smc_reset
	app "another peer" start socket "connect:$PEER:5003" send:5 recv:5 elapsed:0:4000 close
	await over
	smc_was "honest host" 1 1
	for port in "${pids[@]}"; do check "who had to wait was told" wait "$port"; done
	mark told
}
