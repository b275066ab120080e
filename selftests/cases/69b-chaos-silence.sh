# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer's machine dies: from a random moment of a connection's life on nothing of it
# arrives any more, neither an answer nor an end. Every call of the program returns within
# the times of Documentation/sysctl.rst, nothing hangs, and when the peer is back new
# connections work.
#
# Two ways, at thirty points:
#  - the survivor receives exactly the first N packets of its peer (nft): every
#    point of the handshake and of the data;
#  - both are cut off at once (tc) while the connection is idle, or before one
#    of close, half-close and abort.
#
# covers: CONN-33 CONN-32 CONN-38 LG-44 MISC-20
# timeout: 240
# lanes: uml
# fabric: roce -- packets: it counts and drops packets of RoCE
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# 30 points, or each way once
N=$((SLOW > 1 ? 6 : 30))
# The documented bounds with the knobs below, rounded up: connect() is TCP's
# SYN (3 s), one CLC message and one LLC message; the others are seven ACK
# timeouts (1 s), or TEST LINK (1 s), or a close (1.5 s). A handshake without an
# answer may end in TCP, whose retransmissions and keepalive give up after 3 s.
CONNECT=7 OTHERS=3 TCP=5

knobs() {
	fast t_lgr_idle=100 qp_timeout=15 t_testlink=500 t_llc=500 t_clc=1000 t_llc_first=1000 t_close=1500 t_abort=1000
	# the same for what became TCP
	sysctl -qw net.ipv4.tcp_syn_retries=1 net.ipv4.tcp_synack_retries=1 net.ipv4.tcp_retries2=3 \
		net.ipv4.tcp_orphan_retries=1 net.ipv4.tcp_keepalive_probes=2 net.ipv4.tcp_keepalive_intvl=1
}

# deaf PACKETS: nothing is received after so many. ARP is lost, too, so the peer's address
# is set before.
deaf() {
	ip neigh replace "$PEER" lladdr "$(cat "$CASEDIR/mac.$PEER_ID")" dev eth0 nud permanent
	tc qdisc add dev eth0 clsact
	tc filter add dev eth0 ingress protocol arp matchall action drop
	nft -f - <<-EOF
		table inet silence {
			limit heard { rate over 1/day burst $1 packets; }
			chain in {
				type filter hook prerouting priority -400;
				iifname eth0 limit name "heard" counter drop
			}
		}
	EOF
}
# number of packets that were lost so
unheard() { nft list chain inet silence in | grep -o 'packets [0-9]* bytes' | cut -d' ' -f2; }

cut_off() {
	tc qdisc add dev eth0 clsact
	tc filter add dev eth0 ingress matchall action drop
}

heal() {
	tc qdisc del dev eth0 clsact 2>/dev/null || :
	nft delete table inet silence 2>/dev/null || :
	ip neigh del "$PEER" dev eth0 2>/dev/null || :
}

# More than 240 packets each way
DATA="send:20000=any recv:20000=any send:1000000=any recv:1000000=any send:1=any recv:1=any"
ATAD="recv:20000=any send:20000=any recv:1000000=any send:1000000=any recv:1=any send:1=any"

# plan I: the survivor in $who, what happens in $what, after $n packets or ms
plan() {
	who=$((RANDOM % 2 + 1))
	n=$((RANDOM % 30 + 1))
	case $(($1 % 6)) in
	0|1) what=early ;;
	2) what=late n=$((n * 7)) ;;
	3) what=idle ;;
	4) what=close ;;
	5) what=half; [ $(($1 % 12)) = 5 ] || what=abort ;;
	esac
}

# life I: this side of the connection; in $CASEDIR/$ROLE.$I what every call gave
life() {
	local i=$1 port=$((6000 + $1)) limit=$OTHERS steps
	case $what in early|late) limit=$TCP ;; esac
	if [ "$ROLE" = server ]; then
		steps="limit:$((2 * CONNECT)) socket:smc listen:$port mark:up$i accept:0=any keepalive:1=any limit:$limit $ATAD"
	else
		steps="limit:$CONNECT socket:smc connect:$PEER:$port=any keepalive:1=any limit:$limit $DATA"
	fi
	case $what in
	early|late) steps+=" linger:$limit=any close=any" ;;
	*)
		steps+=" mark:idle$i.$ID limit:60 await:cut$i limit:$OTHERS"
		if [ "$what" = idle ] || [ "$who" = "$ID" ]; then
			steps+=" recv:1=any"
		else
			case $what in
			close) steps+=" linger:$OTHERS close=any" ;;
			half) steps+=" shut:wr=any recv:1=any close=any" ;;
			abort) steps+=" linger:0 close=any" ;;
			esac
		fi ;;
	esac
	# shellcheck disable=SC2086
	exec "$PROG/sockcmd" $steps
}

# ended I PID: this side of the life is over, or there never was one
ended() {
	[ "$ROLE" = client ] || grep -q ^accept "$CASEDIR/server.$1" || {
		# the peer's silence may be older than the connection
		await "over$1" 60
		poll 4 grep -q ^accept "$CASEDIR/server.$1" || { kill -KILL "$2"; noconn=$((noconn + 1)); }
	}
	poll 20 gone "$2"
}

point() {
	local i=$1 pid who what n rc=0 log=$CASEDIR/$ROLE.$1
	plan "$i"
	case $what in
	early|late)
		# half of them are first contacts
		((i % 2)) || poll 10 no_group
		[ "$who" != "$ID" ] || deaf "$n" ;;
	esac
	barrier "set$i" 30
	[ "$ROLE" = server ] || await "up$i" 30
	life "$i" > "$log" 2>&1 &
	pid=$!
	case $what in
	early|late) ;;
	*)
		await "idle$i.1" 40
		await "idle$i.2" 40
		nap "0.$(printf %03d $((n * 10)))"
		cut_off
		barrier "silent$i" 30
		[ "$ROLE" = server ] || mark "cut$i" ;;
	esac
	passes "point $i ($what, $n): $ROLE does not hang" ended "$i" "$pid" || kill -KILL "$pid" || :
	wait "$pid" 2>/dev/null || rc=$?
	[ $rc = 0 ] || [ $rc = 137 ] || check "point $i ($what, $n): $ROLE ($rc)" false
	[ "$ROLE" = server ] || mark "over$i"
	echo "point $i, $what $n, survivor $who: $(tr '\n' ' ' < "$log")"
	! grep -v ^accept "$log" | grep -qE 'TIMEOUT|WRONG-DATA' ||
		check "point $i ($what, $n): every call of the $ROLE ends in time" false
	case $what in
	early|late) [ "$who" != "$ID" ] || [ "$(unheard)" -gt 0 ] || unreached=$((unreached + 1)) ;;
	*) ! grep -qx 'recv:1: 1' <(tail -n 2 "$log") || check "point $i: data out of silence" false ;;
	esac
	barrier "ended$i" 60
	heal
	barrier "healed$i" 30
	healthy "$i"
}

# The peer is back. An old link group that it still has may cost one connection its RDMA
# (out of sync, RFC 7609 3.5.1.2), not two.
healthy() {
	local i=$1 pid
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server $((7000 + i)) send=20k recv=20k conns=2
		pid=$BG
		poll 10 listening $((7000 + i))
		mark "back$i"
		wait "$pid" || check "point $i: afterwards" false
	else
		await "back$i" 20
		"$PROG/xfer" client "$PEER" $((7000 + i)) send=20k recv=20k conns=2 ||
			check "point $i: afterwards" false
	fi
	[ "$(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses)" -gt "$_smc_conns" ] ||
		check "point $i: afterwards over SMC-R" false
	barrier "done$i" 30
}

side() {
	local i noconn=0 unreached=0
	knobs
	put "$CASEDIR/mac.$ID" "$(</sys/class/net/eth0/address)"
	barrier knobs
	for ((i = 0; i < N; i++)); do point $i; done
	echo "$N points, not reached: $unreached, before the connection was there: $noconn"
	eq "points that were not reached" $unreached 0
	check "every connection is released" eventually 20 smc_idle
	echo "first contacts: $(smc_sum client-first-contacts server-first-contacts);" \
		"$(smc_stats | grep ^timer- | tr '\n' ' ')"
}

# the seed is in the log: seed=NUMBER
server() {
	local seed=${SRANDOM:0:9}
	mark seed "$seed"
	RANDOM=$seed
	echo "seed=$seed"
	side
}
client() {
	await seed
	RANDOM=$MARK
	echo "seed=$MARK"
	side
}
