# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred servers receive the Proposal and never answer, more than there ever were
# workers. Connections from and to another host take as long as without them. Each
# connect() ends with t_clc, however many there are, and shutdown() and close() end it at
# once. The RDMA device can be removed meanwhile; connections that get their Accept after
# that are TCP.
#
# covers: CLC-14 SEC-13 CONN-38
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet clc stress nodebug
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/usual.sh
. "$PROG/usual.sh"

PORTS=(5001 5002)
EACH=300
TCLC=15000

# silent PORT: receives each Proposal and answers none
silent() {
	local i
	echo "conn l"
	echo "listen $1"
	echo "mark up$1"
	for ((i = 0; i < EACH; i++)); do
		echo "conn s$i"
		echo "accept"
		echo "rx proposal"
	done
	echo "mark held$1"
	# connect() has failed, and each connection is reset; a puppet that ended earlier
	# would reset the others itself
	for ((i = 0; i < EACH; i++)); do echo "conn s$i"; echo "rx end 60s"; done
}

server() {
	local port pids=()
	_synopt
	sysctl -q net.ipv4.tcp_max_syn_backlog=4096
	usual_serve 5000
	for port in "${PORTS[@]}"; do
		silent "$port" > "$CASEDIR/silent$port"
		bg "$PUPPET" "$CASEDIR/silent$port"
		pids+=("$BG")
	done
	for port in "${PORTS[@]}"; do poll 20 listening "$port"; done
	await serving
	usual_before "$PEER" 5010
	mark up
	await attacked 60
	usual_now "incoming" "$PEER" 5010
	mark go
	for port in "${pids[@]}"; do check "silent to the end" wait "$port" || :; done
	pup_bg <<-'E'
		listen 5003
		mark up3
		conn gone
		accept
		rx proposal
		mark proposed
		await removed 30s
		qp create
		tx accept first=1
		rx decline s=0 diag=0x06080000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		qp destroy
	E
	pup_end "Decline when the device has gone"
}

# connections to a port, each of which fails T_CLC after TCP was established
victims() {
	local i calls=()
	for ((i = 1; i <= EACH; i++)); do
		calls+=("slot:$i" socket nonblock "connect:$PEER:$1=EINPROGRESS")
	done
	calls+=("mark:sent$1")
	# they wait; one is shut down, one is closed
	calls+=("await:give-up" start "slot:1" "shut:rdwr" "slot:2" close elapsed:0:3000 "mark:gave$1")
	for ((i = 3; i <= EACH; i++)); do
		calls+=("slot:$i" "pollfor:OUT:40000=OUT,ERR,HUP" soerror=ETIMEDOUT)
	done
	"$SOCKCMD" limit:60 start "${calls[@]}" "elapsed:0:$((TCLC + 8000))"
}

client() {
	local port pids=() t
	usual_serve 5010
	mark serving
	await up
	usual_before "$PEER" 5000
	fast t_clc=$TCLC
	for port in "${PORTS[@]}"; do
		victims "$port" > "$CASEDIR/victims$port.log" 2>&1 &
		pids+=($!)
	done
	for port in "${PORTS[@]}"; do await "held$port" 60; done
	smc_reset
	usual_now "outgoing" "$PEER" 5000
	smc_was "outgoing" 101 101
	mark attacked
	await go 60
	mark give-up
	for port in "${PORTS[@]}"; do await "gave$port" 30; done
	for port in "${pids[@]}"; do check "each ends with T_CLC" wait "$port" || tail -5 "$CASEDIR"/victims*.log; done
	await up3 60
	app_bg limit:60 socket "connect:$PEER:5003" recv:5 send:5 recv:1=eof close
	await proposed
	t=$(date +%s%N)
	rnic_delete 0
	t=$((($(date +%s%N) - t) / 1000000))
	check "the device goes at once ($t ms)" test "$t" -lt $((3000 * SLOW)) || :
	mark removed
	app_end "then it is TCP"
	rnic_add 0
}
