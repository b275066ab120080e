# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Simultaneous open: SYNs that cross each other make a TCP connection without
# client and server, so SMC-R does not begin, neither when both sides saw that,
# nor when one did, nor with plain TCP on the other side.
#
# covers: T-17
# timeout: 90
# tags: tcpopt wip
# wip: has not been run yet
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

state() { ss -Htn state "$1" "sport = :$2" | grep -q .; }

# caller NAME PORT FAM PEER: begins to connect and, when it is through, exchanges data
caller() {
	local any=0.0.0.0
	[ "${3%6}" = "$3" ] || any=::
	app_bg limit:20 "socket:$3" "bind:$any:$2" nonblock "connect:$4:$2=EINPROGRESS" "mark:called.$1.$ID" \
		pollfor:OUT:15000 soerror block send:3000 recv:3000 shut:wr recv:1=eof close
}

# crossed NAME: what this side saw
crossed() {
	app_end "$1: connected, with data both ways"
	watched
	eq "$1: CLC messages" "$(clc "$1")" 0 || :
}
reason() { smc_sum simultaneous-open; }

# both NAME PORT FAM PEER6?: each side's SYN arrives while the other has sent one
both1() {
	local r
	r=$(reason)
	watch "$1" "$2"
	await "called.$1.2"
	caller "$@"
	crossed "$1"
	eq "$1: said to be simultaneous" "$(($(reason) - r))" "$([ "${3#tcp}" = "$3" ] && echo 1 || echo 0)" || :
}
both2() {
	local r
	r=$(reason)
	watch "$1" "$2"
	# nothing leaves from here until our SYN-ACK would
	mangle output "tcp dport $2" any:hold
	caller "$@"
	poll 10 state syn-recv "$2" || fail "no SYN has come"
	kill -USR1 "$_mangle"
	crossed "$1"
	unmangle "$1"
	eq "$1: said to be simultaneous" "$(($(reason) - r))" "$([ "${3#tcp}" = "$3" ] && echo 1 || echo 0)" || :
}

server() {
	smc_reset
	both1 both 7001 smc "$PEER"; tcp_was both 1
	smc_reset
	both1 both6 7002 smc6 "$PEER6"; tcp_was both6 1
	smc_reset
	both1 peer-tcp 7003 smc "$PEER"; tcp_was peer-tcp 1
	both1 me-tcp 7004 tcp "$PEER"

	# only this side sees the other's SYN in SYN-SENT
	local r
	r=$(reason)
	smc_reset
	watch one 7005
	await deaf.7005
	caller one 7005 smc "$PEER"
	crossed one; tcp_was one 1
	eq "one: said to be simultaneous" "$(($(reason) - r))" 1 || :

	# and a port of one's own alone is no reason
	smc_reset
	app_bg socket listen:7006 mark:up.7006 slot:1 accept:0 recv:3000 send:3000 recv:1=eof close
	app_end "own port: server"
	smc_was "own port" 1 1
}

client() {
	smc_reset
	both2 both 7001 smc "$PEER"; tcp_was both 1
	smc_reset
	both2 both6 7002 smc6 "$PEER6"; tcp_was both6 1
	both2 peer-tcp 7003 tcp "$PEER"
	smc_reset
	both2 me-tcp 7004 smc "$PEER"; tcp_was me-tcp 1

	smc_reset
	watch one 7005
	nft "add table inet deaf; add chain inet deaf c { type filter hook input priority 0 ; }; add rule inet deaf c tcp dport 7005 tcp flags & (syn|ack|rst) == syn counter drop"
	mark deaf.7005
	await called.one.1
	poll 10 lost deaf || fail "no SYN has come"
	caller one 7005 smc "$PEER"
	crossed one; tcp_was one 1
	check "one: our SYN had the option" test "$(with one "$SYN")" -ge 1 || :
	eq "one: the other side's SYN-ACKs with the option" "$(with one "$SYNACK")" 0 || :

	await up.7006
	smc_reset
	app "own port: client" socket bind:0.0.0.0:7007 "connect:$PEER:7006" send:3000 recv:3000 shut:wr recv:1=eof close
	smc_was "own port" 1 1
}
