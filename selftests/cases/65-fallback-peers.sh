# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Without SMC-R at both ends there is plain TCP, and neither the application nor the wire
# shows anything else: plain TCP peers on either side, the option stripped on its way, the
# module switched off, SYN cookies, Fast Open, no RDMA device on the other side, a router
# in between or no common subnet, where the option is not sent. The options are read from
# the packets by tcpdump in the guest.
#
# covers: T-01 T-02 T-03 T-04 T-06 T-07 T-08 T-12 T-14 T-15 T-16 MISC-07 MISC-22
# timeout: 120
# lanes: uml qemu
# tags: fallback tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

X=$PROG/xfer

# srv NAME PORT FAM: one server for the client's step NAME
srv() {
	local name=$1 port=$2 fam=$3; shift 3
	smc_reset
	bg "$X" server "$port" fam="$fam" send=50k recv=30k "$@"
	local pid=$BG
	poll 10 listening "$port"
	mark "up.$name"
	check "$name: server" wait "$pid"
}

# clt NAME PORT FAM [WORD...]
clt() {
	local name=$1 port=$2 fam=$3; shift 3
	await "up.$name" 40
	smc_reset
	watch "$name" "$port"
	check "$name: client" "$X" client "${TO:-$PEER}" "$port" fam="$fam" send=30k recv=50k "$@"
	watched
}

objects() { rdma resource show | head -1; }

server() {
	local addr cookies before n
	srv both 5001 smc; smc_was both 1 1
	srv tcp-server 5002 tcp; tcp_was tcp-server 0
	before=$(objects)
	srv tcp-client 5003 smc; tcp_was tcp-client 1
	eq "tcp-client: no RDMA resources are used" "$(objects)" "$before"
	srv syn-stripped 5004 smc; tcp_was syn-stripped 1
	# The server cannot see that its SYN-ACK lost the option, and what comes
	# is not a Proposal: the end of the connection (SEC-10), but no hang.
	strip output 5005 || fail "nft cannot strip"
	smc_reset
	bg "$X" server 5005 send=50k recv=30k
	poll 10 listening 5005
	mark up.synack-stripped
	await synack-stripped 40
	unstrip
	kill "$BG"
	eq "synack-stripped: SMC-R connections" "$(($(smc_servers) - _smc_conns))" 0
	srv client-off 5006 smc; tcp_was client-off 1
	echo 0 > /proc/sys/net/smcr/enabled
	srv server-off 5007 smc; tcp_was server-off 1
	echo 1 > /proc/sys/net/smcr/enabled
	cookies=$(</proc/sys/net/ipv4/tcp_syncookies)
	echo 2 > /proc/sys/net/ipv4/tcp_syncookies
	n=$(smc_sum server-first-contacts server-reuses server-fallbacks)
	srv cookies 5008 smc
	# either the option is remembered, or it is not sent
	eq "cookies: one way or the other" "$(($(smc_sum server-first-contacts server-reuses server-fallbacks) - n))" 1
	echo "$cookies" > /proc/sys/net/ipv4/tcp_syncookies
	smc_reset
	bg "$PROG/sockapi" server smc 9100
	wait "$BG" || fail "sockapi server"
	bg "$PROG/sockapi" server smc 9101
	wait "$BG" || fail "sockapi server, a listener with Fast Open"
	bg "$PROG/sockapi" server smc 9102
	wait "$BG" || fail "sockapi server, MSG_FASTOPEN"
	srv again 5010 smc; smc_was again 1 1
	nft add table ip filt; nft add chain ip filt c '{ type filter hook input priority 0 ; }'
	nft add rule ip filt c tcp dport 5011 reject with tcp reset
	bg "$X" server 5011 send=50k recv=30k
	poll 10 listening 5011
	mark up.filtered
	await filtered
	nft delete table ip filt
	# no RDMA device here, which the client cannot see
	rnic_delete 0
	srv no-device 5012 smc; tcp_was no-device 1
	rnic_add 0
	# addresses that the client reaches by way of a router, which is this host
	for addr in 10.77.0.91/32 10.99.0.1/32 fd77:0::91/128 fd99:0::1/128; do
		ip addr add "$addr" dev eth0 nodad
	done
	srv router 5013 smc; tcp_was router 1
	srv router6 5014 smc; tcp_was router6 1
	srv nosubnet 5015 smc; tcp_was nosubnet 1
	srv noprefix 5016 smc; tcp_was noprefix 1
	for addr in 10.77.0.91/32 10.99.0.1/32 fd77:0::91/128 fd99:0::1/128; do
		ip addr del "$addr" dev eth0
	done
}

client() {
	clt both 5001 smc; on_wire both yes yes yes; smc_was both 1 1
	# RDMA payload is not on TCP: sequence numbers count CLC only
	check "both: nothing but CLC on TCP" test "$(tcpdump -r "$(pcap both)" -n 'greater 1000' 2>/dev/null | wc -l)" = 0
	clt tcp-server 5002 smc; on_wire tcp-server yes no no; tcp_was tcp-server 1
	clt tcp-client 5003 tcp; on_wire tcp-client no no no
	strip output 5004 || fail "nft cannot strip"
	clt syn-stripped 5004 smc; unstrip; tcp_was syn-stripped 1
	on_wire syn-stripped no no no
	await up.synack-stripped
	smc_reset
	watch synack-stripped 5005
	check "synack-stripped: no hang" timeout $((5 * SLOW)) bash -c "'$X' client $PEER 5005 send=30k recv=50k || [ \$? = 1 ]"
	watched
	on_wire synack-stripped yes no no; tcp_was synack-stripped 1
	mark synack-stripped
	echo 0 > /proc/sys/net/smcr/enabled
	clt client-off 5006 smc; on_wire client-off no no no; tcp_was client-off 1
	echo 1 > /proc/sys/net/smcr/enabled
	clt server-off 5007 smc; on_wire server-off yes no no; tcp_was server-off 1
	clt cookies 5008 smc
	# whatever it was, both sides agree
	check "cookies: option on the SYN-ACK just if CLC follows" test \
		"$([ "$(with cookies "$SYNACK")" -gt 0 ] && echo y)" = "$([ "$(clc cookies)" -gt 0 ] && echo y)"
	watch tfo 10008
	"$PROG/sockapi" client smc "$PEER" 9100 4 > "$CASEDIR/tfo.txt" <<-'E'
		== Fast Open
		S socket l
		S set l TCP_FASTOPEN 5
		S set l REUSEADDR 1
		S bind l 0
		S listen l
		C socket a
		C set a TCP_FASTOPEN_CONNECT 1
		C connect a
		C send a 10
		S accept l b
		S recv b 10
		S send b 5
		C recv a 5
	E
	watched
	cat "$CASEDIR/tfo.txt"
	check "Fast Open: data arrive" grep -q '^S recv b 10 = 10' "$CASEDIR/tfo.txt"
	eq "Fast Open: SYNs with the option" "$(with tfo "$SYN")" 0
	# a client that offers SMC-R: a listener that accepts data in SYNs does not answer
	# the option, or the first bytes of the stream would be taken for CLC
	watch tfo-listener 10008
	"$PROG/sockapi" client smc "$PEER" 9101 4 > "$CASEDIR/tfo-listener.txt" <<-'E'
		== a listener with Fast Open
		S socket l
		S set l TCP_FASTOPEN 5
		S set l REUSEADDR 1
		S bind l 0
		S listen l
		C socket a
		C connect a
		C send a 10
		S accept l b
		S recv b 10
		S send b 5
		C recv a 5
	E
	watched
	cat "$CASEDIR/tfo-listener.txt"
	check "a listener with Fast Open: data arrive" grep -q '^S recv b 10 = 10' "$CASEDIR/tfo-listener.txt"
	check "a listener with Fast Open: the SYN had the option" test "$(with tfo-listener "$SYN")" -gt 0
	eq "a listener with Fast Open: SYN-ACKs with the option" "$(with tfo-listener "$SYNACK")" 0
	# connects and sends in one call
	watch tfo-call 10008
	"$PROG/sockapi" client smc "$PEER" 9102 4 > "$CASEDIR/tfo-call.txt" <<-'E'
		== MSG_FASTOPEN
		S socket l
		S set l TCP_FASTOPEN 5
		S set l REUSEADDR 1
		S bind l 0
		S listen l
		C socket a
		C sendto a 10 fastopen
		S accept l b
		S recv b 10
		S send b 5
		C recv a 5
		C sendto a 10 fastopen
	E
	watched
	cat "$CASEDIR/tfo-call.txt"
	check "MSG_FASTOPEN: data arrive" grep -q '^S recv b 10 = 10' "$CASEDIR/tfo-call.txt"
	check "MSG_FASTOPEN: an answer, too" grep -q '^C recv a 5 = 5' "$CASEDIR/tfo-call.txt"
	check "MSG_FASTOPEN: connected" grep -q '^C sendto a 10 fastopen .*EISCONN' "$CASEDIR/tfo-call.txt"
	eq "MSG_FASTOPEN: SYNs with the option" "$(with tfo-call "$SYN")" 0
	clt again 5010 smc; smc_was again 1 1
	await up.filtered
	check "a filter refuses the connection" bash -c "! '$X' client $PEER 5011 send=30k recv=50k 2> '$CASEDIR/refused'"
	check "as TCP does" grep -q 'connect: Connection refused' "$CASEDIR/refused"
	mark filtered
	clt no-device 5012 smc; on_wire no-device yes no no; tcp_was no-device 1
	ip route add 10.77.0.91/32 via "$PEER"
	ip -6 route add fd77:0::91/128 via "$PEER6"
	TO=10.77.0.91
	clt router 5013 smc; on_wire router no no no; tcp_was router 1
	TO=fd77:0::91
	clt router6 5014 smc; on_wire router6 no no no; tcp_was router6 1
	ip route del 10.77.0.91/32
	ip -6 route del fd77:0::91/128
	# and those that it reaches directly, but in no subnet of its own
	ip route add 10.99.0.1/32 dev eth0
	ip -6 route add fd99:0::1/128 dev eth0
	TO=10.99.0.1
	clt nosubnet 5015 smc; on_wire nosubnet no no no; tcp_was nosubnet 1
	TO=fd99:0::1
	clt noprefix 5016 smc; on_wire noprefix no no no; tcp_was noprefix 1
	ip route del 10.99.0.1/32
	ip -6 route del fd99:0::1/128
}
