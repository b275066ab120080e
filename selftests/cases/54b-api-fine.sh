# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Options and signals on which TCP and AF_SMC used to differ: TCP_ULP of a
# connection that has none, SIGIO at the end of connect(), an ICMP error with
# IP_RECVERR; and a route that depends on IP_TOS, or an address that a BPF
# program replaces, lead to SMC-R all the same. In fallback, a filter and
# timestamps get to the TCP socket on every kernel.
#
# covers: T-14 CONN-34
# timeout: 60
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

FINE=$PROG/sockfine.py
D=/tmp/fine

server() {
	local calls=() echo=(recvtext:5 sendtext:12345)
	# port 5000 is TCP's, 5001 runs over SMC-R
	bg "$PROG/sockcmd" limit:50 socket:tcp listen:5000 slot:1 \
		accept:0 "${echo[@]}" close accept:0 "${echo[@]}" close \
		accept:0 "${echo[@]}" "${echo[@]}" "${echo[@]}" close \
		accept:0 "${echo[@]}" "${echo[@]}" close
	for _ in 1 2; do calls+=(accept:0 "${echo[@]}" close); done
	calls+=(accept:0 "${echo[@]}" "${echo[@]}" "${echo[@]}" recv:1=eof close)
	for _ in 1 2; do calls+=(accept:0 "${echo[@]}" close); done
	bg "$PROG/sockcmd" limit:50 socket listen:5001 slot:1 "${calls[@]}"
	poll 10 listening 5000
	poll 10 listening 5001
	bg "$FINE" icmp 5001 eth0 "$D"
	poll 10 grep -q ready "$CASEDIR/server-bg3.log" || fail "icmp is not ready"
	mark ready
	await up 30
	echo go > "$D"
	check "ICMP message sent" wait "$BG"
	mark sent
	await fallback 40
	echo 0 > /proc/sys/net/smcr/enabled
	bg "$PROG/sockcmd" limit:50 socket listen:5002 slot:1 \
		accept:0 "${echo[@]}" "${echo[@]}" "${echo[@]}" close \
		accept:0 "${echo[@]}" "${echo[@]}" close
	poll 10 listening 5002
	mark fallback2
	await over 40
}

client() {
	local smc=("$SMCCTL" run --) pid
	await ready
	smc_reset
	check "TCP: TCP_ULP" "$FINE" ulp "$PEER" 5000
	check "TCP: SIGIO of connect()" "$FINE" sigio "$PEER" 5000
	check "SMC: TCP_ULP" "${smc[@]}" "$FINE" ulp "$PEER" 5001
	check "SMC: SIGIO of connect()" "${smc[@]}" "$FINE" sigio "$PEER" 5001

	bg "${smc[@]}" "$FINE" recverr "$PEER" 5001 "$D"
	pid=$BG
	poll 10 grep -q up "$CASEDIR/client-bg1.log" || fail "no connection"
	mark up
	await sent
	nap 0.3
	echo go > "$D"
	check "an ICMP error leaves the connection alone" wait "$pid"
	check "the error had come" test "$(awk '$1 == "Icmp:" && $2 ~ /[0-9]/ { print $2 }' /proc/net/snmp)" -gt 0

	# by the usual route there is no RDMA device
	ip link add dummy0 type dummy
	ip link set dummy0 up
	ip route add "$PEER/32" dev dummy0
	ip route add "$PEER/32" tos 0x10 dev eth0
	check "SMC: route by IP_TOS" "${smc[@]}" "$FINE" tos "$PEER" 5001 0x10
	ip route del "$PEER/32" dev dummy0
	ip route del "$PEER/32" tos 0x10 dev eth0

	ip route add 192.0.2.1 dev dummy0
	mkdir -p /sys/fs/cgroup/fine
	bg "$FINE" connect4 /sys/fs/cgroup/fine 192.0.2.1 "$PEER"
	poll 10 grep -q attached "$CASEDIR/client-bg2.log" || fail "no BPF program"
	# shellcheck disable=SC2317
	in_group() {
		echo "$BASHPID" > /sys/fs/cgroup/fine/cgroup.procs
		exec "$@"
	}
	bg in_group "${smc[@]}" "$FINE" ulp 192.0.2.1 5001
	check "SMC: address from a BPF program" wait "$BG"
	rmdir /sys/fs/cgroup/fine	# and its program
	smc_was client 5 5

	mark fallback
	await fallback2
	check "TCP: filter" "$FINE" filter "$PEER" 5000
	check "TCP: timestamps" "$FINE" stamp "$PEER" 5000
	check "fallback: filter" "${smc[@]}" "$FINE" filter "$PEER" 5002
	check "fallback: timestamps" "${smc[@]}" "$FINE" stamp "$PEER" 5002
	mark over
}
