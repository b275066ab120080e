# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Connections to which an IPsec policy applies do not use SMC-R: no option on the wire, or
# a Decline with that reason, and all packets in ESP. Other connections of the same peers
# use the existing group. Transport mode; IPv4 and IPv6; policies of both hosts, of the
# server alone, and of one socket, for what it sends or for what it receives.
#
# covers: SEC-05
# timeout: 60
# lanes: uml qemu
# fabric: roce -- packets: it looks for RoCE packets
# tags: fallback sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
KEY=0x$(printf '%064d' 7)
ICV=0x$(printf '%064d' 9)

# sa SRC DST SPI
sa() {
	ip xfrm state add src "$1" dst "$2" proto esp spi "$3" mode transport reqid 1 \
		enc 'cbc(aes)' "$KEY" auth-trunc 'hmac(sha256)' "$ICV" 128
}
# policy DIR SRC DST LEVEL SELECTOR...
policy() {
	local dir=$1 src=$2 dst=$3 level=$4; shift 4
	ip xfrm policy add dir "$dir" src "$src" dst "$dst" "$@" \
		tmpl src "$src" dst "$dst" proto esp reqid 1 mode transport level "$level"
}
# watch NAME, watched: everything between the two
watch() {
	tcpdump --immediate-mode -i eth0 -n -s 0 -U -w "$CASEDIR/$1.pcap" > "$CASEDIR/$1.dump" 2>&1 &
	_dump=$!
	poll 10 grep -q 'listening on' "$CASEDIR/$1.dump" || fail "tcpdump does not start"
}
watched() { nap 0.3; kill -INT "$_dump"; wait "$_dump" || :; }
n_of() { tcpdump -r "$CASEDIR/$1.pcap" -n "$2" 2> /dev/null | wc -l; }

# clt NAME PORT HOST: the client of smc_serve
clt() {
	await "up.$1" 40
	smc_reset
	watch "$1"
	check "$1: client" "$PROG/xfer" client "$3" "$2" send=30k recv=50k
	watched
}
# protected NAME: all in ESP. RoCE without data may be TEST LINK of the group.
protected() {
	check "$1: ESP on the wire ($(n_of "$1" esp) packets)" test "$(n_of "$1" esp)" -gt 5
	eq "$1: nothing of TCP in the clear" "$(n_of "$1" tcp)" 0
	eq "$1: no data by RDMA" "$(n_of "$1" "udp port 4791 and greater 200")" 0
}

server() {
	modprobe -a esp4 esp6 || skip "no ESP"
	smc_serve before 5000; smc_was before 1 1
	# both hosts, ports 5001 to 5003 by TCP
	sa "$ME" "$PEER" 0x101; sa "$PEER" "$ME" 0x102
	sa "$ME6" "$PEER6" 0x101; sa "$PEER6" "$ME6" 0x102
	policy out "$ME" "$PEER" required proto tcp sport 5001
	policy in "$PEER" "$ME" required proto tcp dport 5001
	policy out "$ME6" "$PEER6" required proto tcp sport 5001
	policy in "$PEER6" "$ME6" required proto tcp dport 5001
	mark policies
	smc_serve both 5001; tcp_was both 1
	smc_serve six 5001; tcp_was six 1
	smc_serve beside 5002; smc_was beside 1 1
	# the server protects what it sends, but accepts what it gets; the client has the
	# keys only
	policy out "$ME" "$PEER" required proto tcp sport 5003
	smc_serve server 5003; tcp_was server 1
	check "server: the reason is named" test "$(counter ipsec)" -ge 1
	# one socket of the client, no policy of the host
	smc_reset
	app_bg limit:60 socket listen:5004 mark:up.socket accept:0 recv:5 send:5 close
	app_end "socket: server"; tcp_was socket 1
	smc_reset
	app_bg limit:60 socket listen:5005 mark:up.inbound accept:0 recv:5 send:5 close
	app_end "socket, inbound: server"; tcp_was inbound 1
	smc_serve after 5002; smc_was after 1 1
}

client() {
	local n
	modprobe -a esp4 esp6 || skip "no ESP"
	clt before 5000 "$PEER"; smc_was before 1 1
	eq "before: data by RDMA, and not in ESP" "$(n_of before esp) $([ "$(n_of before "udp port 4791 and greater 200")" -gt 10 ] && echo rdma)" "0 rdma"
	await policies
	sa "$ME" "$PEER" 0x102; sa "$PEER" "$ME" 0x101
	sa "$ME6" "$PEER6" 0x102; sa "$PEER6" "$ME6" 0x101
	policy out "$ME" "$PEER" required proto tcp dport 5001
	policy in "$PEER" "$ME" required proto tcp sport 5001
	policy out "$ME6" "$PEER6" required proto tcp dport 5001
	policy in "$PEER6" "$ME6" required proto tcp sport 5001
	clt both 5001 "$PEER"; tcp_was both 1; protected both
	clt six 5001 "$PEER6"; tcp_was six 1; protected six
	eq "the reason is named" "$(counter ipsec)" 2
	clt beside 5002 "$PEER"; smc_was beside 1 1
	eq "beside: not in ESP" "$(n_of beside esp)" 0
	n=$(counter peer-declined)
	clt server 5003 "$PEER"; tcp_was server 1
	check "server: what it sends is in ESP" test "$(n_of server "esp and src host $PEER")" -gt 3
	eq "server: nothing of its TCP in the clear" "$(n_of server "tcp and src host $PEER")" 0
	eq "server: no data by RDMA" "$(n_of server "udp port 4791 and greater 200")" 0
	echo "declines: $(($(counter peer-declined) - n))"
	await up.socket 40
	smc_reset
	watch socket
	app "socket: client" socket ipsec "connect:$PEER:5004" send:5 recv:5 recv:1=eof close
	watched
	tcp_was socket 1
	check "socket: what it sends is in ESP" test "$(n_of socket "esp and src host $ME")" -gt 3
	eq "socket: no data by RDMA" "$(n_of socket "udp port 4791 and greater 200")" 0
	eq "socket: the reason" "$(counter ipsec)" 3
	# it accepts what is not in ESP, too
	await up.inbound 40
	smc_reset
	app "socket, inbound: client" socket ipsec:in "connect:$PEER:5005" send:5 recv:5 recv:1=eof close
	tcp_was inbound 1
	eq "socket, inbound: the reason" "$(counter ipsec)" 4
	clt after 5002 "$PEER"; smc_was after 1 1
}
