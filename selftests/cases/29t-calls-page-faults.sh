# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred threads of one program, more than there ever were workers, hang in a page
# fault that is never answered, each in a call on a socket of its own: receiving and
# sending over SMC-R, and options of listeners that have a connection to accept. Another
# listener, a connection that there is and one to another host take their usual time.
#
# timeout: 170
# lanes: qemu
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=600
SOCKCMD=$PROG/sockcmd
KINDS=(recv send listen-linger listen-filter listen-cbpf)

# hangs KIND ADDRESS PORT: until both sides have tried
hangs() {
	local hang log
	bg "$PROG/stuck" "$2" "$3" $N "$1"
	hang=$BG log=$CASEDIR/server-bg$_nbg.log
	poll 60 grep -q "^stuck $N" "$log" || fail "the threads do not hang: $(cat "$log")"
	bg "$SOCKCMD" limit:40 socket listen:5000 slot:1 accept:0 recv:5 send:5 recv:1=eof \
		close slot:2 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5000
	check "outgoing beside $1" "$SOCKCMD" start socket "connect:$PEER:5002" \
		send:5 recv:5 elapsed:0:2000 close || :
	mark "up.$1"
	await "over.$1" 60
	eq "threads of $1 that came back" "$(grep -c gave "$log")" 0 || :
	kill "$hang"
	check "they can be killed" eventually 30 gone "$hang" || :
}

server() {
	local kind calls=()
	echo 16384 > /proc/sys/net/smcr/rmem
	for kind in "${KINDS[@]}"; do calls+=(recv:5 send:5); done
	bg "$SOCKCMD" limit:160 socket listen:5001 slot:1 accept:0 recv:5 send:5 "${calls[@]}" recv:1=eof close
	poll 10 listening 5001
	mark ready
	await sinks 20
	for kind in "${KINDS[@]}"; do
		case $kind in
		recv) hangs $kind "$PEER" 6000 ;;
		send) hangs $kind "$PEER" 6001 ;;
		# ports of their own: those of the kind before may be in TIME-WAIT
		listen-linger) hangs $kind 127.0.0.1 20000 ;;
		listen-filter) hangs $kind 127.0.0.1 21000 ;;
		listen-cbpf) hangs $kind 127.0.0.1 22000 ;;
		esac
	done
}

client() {
	local kind i port calls=() old
	echo 16384 > /proc/sys/net/smcr/rmem
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" accept:0 send:100); done
	for port in 6000 6001; do
		bg "$SOCKCMD" limit:160 socket "listen:$port:1024" "${calls[@]}" await:sunk
		poll 10 listening $port
	done
	calls=()
	for kind in "${KINDS[@]}"; do
		calls+=("await:up.$kind" start send:5 recv:5 elapsed:0:1000 "mark:old.$kind")
	done
	await ready
	bg "$SOCKCMD" limit:160 socket "connect:$PEER:5001" send:5 recv:5 mark:old "${calls[@]}" close
	old=$BG
	calls=()
	for kind in "${KINDS[@]}"; do calls+=(slot:1 accept:0 recv:5 send:5 recv:1=eof close); done
	bg "$SOCKCMD" limit:160 socket listen:5002 "${calls[@]}"
	poll 10 listening 5002
	await old
	mark sinks
	for kind in "${KINDS[@]}"; do
		await "up.$kind" 90
		check "SMC-R beside $kind" "$SOCKCMD" start socket "connect:$PEER:5000" \
			send:5 recv:5 elapsed:0:2000 close || :
		check "TCP beside $kind" "$SOCKCMD" start socket:tcp "connect:$PEER:5000" \
			send:5 recv:5 elapsed:0:1000 close || :
		await "old.$kind" 10
		mark "over.$kind"
	done
	check "a connection that there was" wait "$old" || :
	mark sunk
}
