# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which six hundred threads of one program, more than a workqueue of the module runs
# workers (512), hang in a page fault that is never answered, each in a call on a socket of its own,
# see stuck.c. The case sets KINDS: KIND of a connection, or listen-KIND; after smc.sh and stuck.sh
#
#	stuck_many_server	the host with the threads, stuck_many_client: the other one
#
# While the threads of a kind hang, a listener of another program accepts at once, over SMC-R and
# over TCP; a connection to the other host is made; and an older connection goes on.

N=600
SOCKCMD=$PROG/sockcmd

# _stuck_at NUMBER KIND: address and port of the threads' sockets. Ports differ by kind, because
# those of the kind before may be in TIME-WAIT
_stuck_at() {
	case $2 in
	listen-dstopts | listen-savedsyn) echo ::1 $((20000 + 1000 * $1)) ;;
	listen-*) echo 127.0.0.1 $((20000 + 1000 * $1)) ;;
	*) echo "$PEER" $((6000 + $1)) ;;
	esac
}

# _stuck_kind NUMBER KIND: until both hosts have tried
_stuck_kind() {
	local hang log
	# shellcheck disable=SC2046
	bg "$PROG/stuck" $(_stuck_at "$1" "$2") $N "$2"
	hang=$BG log=$CASEDIR/$ROLE-bg$_nbg.log
	poll 60 grep -q "^stuck $N" "$log" || fail "the threads do not hang: $(cat "$log")"
	bg "$SOCKCMD" limit:40 socket listen:5000 slot:1 accept:0 recv:5 send:5 recv:1=eof \
		close slot:2 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5000
	smc_reset
	check "outgoing beside $2" "$SOCKCMD" start socket "connect:$PEER:5002" \
		send:5 recv:5 elapsed:0:2000 close || :
	mark "up.$2"
	await "over.$2" 60
	# one outgoing, one incoming; the TCP client is the fallback
	smc_was "beside $2" 2 2 1
	eq "threads of $2 that came back" "$(grep -c gave "$log" || :)" 0 || :
	kill "$hang"
	check "they can be killed" eventually 30 gone "$hang" || :
}

stuck_many_server() {
	local i kind calls=()
	echo 16384 > /proc/sys/net/smcr/rmem
	stuck_begin
	for kind in "${KINDS[@]}"; do calls+=(recv:5 send:5); done
	bg "$SOCKCMD" limit:170 socket listen:5001 slot:1 accept:0 recv:5 send:5 "${calls[@]}" recv:1=eof close
	poll 10 listening 5001
	mark ready
	await peers 20
	for i in "${!KINDS[@]}"; do _stuck_kind "$i" "${KINDS[i]}"; done
	await finished 20
	stuck_end
}

stuck_many_client() {
	local i n kind data calls old
	echo 16384 > /proc/sys/net/smcr/rmem
	for i in "${!KINDS[@]}"; do
		kind=${KINDS[i]} data=send:100 calls=()
		case $kind in
		listen-*) continue ;;
		conn-oob) data=oob:x ;;
		esac
		for ((n = 1; n <= N; n++)); do calls+=("slot:$n" accept:0 "$data"); done
		bg "$SOCKCMD" limit:170 socket "listen:$((6000 + i)):1024" "${calls[@]}" await:sunk
		poll 10 listening $((6000 + i))
	done
	calls=()
	for kind in "${KINDS[@]}"; do
		calls+=("await:up.$kind" start send:5 recv:5 elapsed:0:1000 "mark:old.$kind")
	done
	await ready
	bg "$SOCKCMD" limit:170 socket "connect:$PEER:5001" send:5 recv:5 mark:old "${calls[@]}" close
	old=$BG
	calls=()
	for kind in "${KINDS[@]}"; do calls+=(slot:1 accept:0 recv:5 send:5 recv:1=eof close); done
	bg "$SOCKCMD" limit:170 socket listen:5002 "${calls[@]}"
	poll 10 listening 5002
	await old
	mark peers
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
	mark finished
}
