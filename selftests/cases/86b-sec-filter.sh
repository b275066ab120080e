# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Packet filters decide on connections of AF_SMC sockets by address and port, or
# by the user that connects, as on those of TCP ones, on either side, over IPv4
# and IPv6, and also when the data of what they allow run by RDMA, and where a
# group with the peer exists.
# What the application sees is compared with what it sees over TCP.
#
# covers: SEC-03
# timeout: 60
# lanes: uml qemu
# tags: sec api
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# rules CHAIN RULE...: a chain of the filter of this host, from now on
rules() {
	local hook=$1; shift
	{
		echo "add table inet filt"
		echo "add chain inet filt $hook { type filter hook $hook priority 0; policy accept; }"
		printf "add rule inet filt $hook %s\n" "$@"
	} | nft -f - || fail "nft refuses"
}
# hits TEXT: the counter of this rule moved
hits() { nft list table inet filt | grep -F "$1" | grep 'packets [1-9]'; }

# An application per port, for TCP and for SMC-R (port + 100)
serve() {
	local p
	for p; do
		bg "$SOCKCMD" limit:50 socket:tcp6 "listen:$p" accept:0 recv:5 send:5 close
		bg "$SOCKCMD" limit:50 socket:smc6 "listen:$((p + 100))" accept:0 recv:5 send:5 close
	done
	for p; do
		poll 10 listening "$p" && poll 10 listening "$((p + 100))" || fail "nobody listens on $p"
	done
}

# same DESC CALL... : with PORT in the calls, over TCP and over SMC-R
same() {
	local desc=$1; shift
	app "TCP: $desc" "socket:tcp$F" "${@//PORT/$port}" close
	app "SMC: $desc" "socket:smc$F" "${@//PORT/$((port + 100))}" close
}
allowed() { same "$1" "connect:$host:PORT" send:5 recv:5; }
refused() { same "$1" "connect:$host:PORT=$2"; }
dropped() { same "$1" nonblock "connect:$host:PORT=EINPROGRESS" poll:250=none; }

server() {
	serve 5000 5001 5002 5003 5004 5005 5006 5007 5008
	rules input \
		"tcp dport { 5001, 5101 } counter reject with tcp reset comment \"port\"" \
		"tcp dport { 5002, 5102 } counter drop comment \"silent\"" \
		"ip saddr $PEER tcp dport { 5003, 5103 } counter reject with icmp admin-prohibited comment \"address\"" \
		"ip6 saddr $PEER6 tcp dport { 5004, 5104 } counter reject with tcp reset comment \"address6\"" \
		"ip saddr $PEER tcp dport { 5005, 5105 } counter accept comment \"allowed\"" \
		"tcp dport { 5005, 5105 } counter drop comment \"others\""
	rules output "tcp sport { 5006, 5106 } tcp flags & (syn|ack) == (syn|ack) counter drop comment \"answers\""
	smc_reset
	mark ready
	await over 50
	for r in port silent address address6 allowed others answers; do
		check "the rule was asked: $r" hits "comment \"$r\""
	done
	smc_was server 3
	check "nothing came of what was refused" test "$(smc_servers)" = 3
}

client() {
	local host=$PEER port F=''
	rules output \
		"ip daddr $PEER tcp dport { 5007, 5107 } counter reject with tcp reset comment \"out\"" \
		"ip6 daddr $PEER6 tcp dport { 5000, 5100 } counter drop comment \"out6\"" \
		"meta skuid 0 tcp dport { 5008, 5108 } counter drop comment \"owner\""
	await ready
	smc_reset
	port=5000; allowed "no rule"
	port=5001; refused "reset by port" ECONNREFUSED
	port=5002; dropped "dropped by port"
	port=5003; refused "prohibited by address" 'EHOSTUNREACH|ENETUNREACH'
	port=5005; allowed "allowed by address, IPv4"
	port=5006; dropped "its SYN-ACKs are dropped"
	port=5007; refused "by the client's own filter" ECONNREFUSED
	port=5008; dropped "by the client's own filter, for this user"
	host=$PEER6 F=6
	port=5000; dropped "by the client's own filter, IPv6"
	port=5001; refused "reset by port, IPv6" ECONNREFUSED
	port=5003; allowed "another family's address"
	port=5004; refused "reset by address, IPv6" ECONNREFUSED
	port=5005; dropped "not among the allowed, IPv6"
	for r in out out6 owner; do
		check "the rule was asked: $r" hits "comment \"$r\""
	done
	smc_was client 3 3
	mark over
}
