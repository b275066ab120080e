# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Simultaneous open: SYNs that cross make a TCP connection without client and server, so
# there is no SMC-R handshake, whether both sides notice the crossing or one of them, and
# with plain TCP at the other side.
#
# covers: T-17
# tags: tcpopt
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

# crossed NAME: what this side has counted
crossed() {
	app_end "$1: connected, with data both ways"
	watched
	eq "$1: SYN-ACKs with the option" "$(with "$1" "$SYNACK")" 0
	eq "$1: CLC messages" "$(clc "$1")" 0
}
# both NAME PORT FAM PEER6?: each side's SYN arrives while the other has sent one
both1() {
	begin
	watch "$1" "$2"
	await "called.$1.2"
	caller "$@"
	crossed "$1"
	saw "$1" "$([ "${3#tcp}" = "$3" ] && echo 0 1 1 || echo 0 0 0)"
}
both2() {
	begin
	watch "$1" "$2"
	# packets are held here until this side would send its SYN-ACK
	mangle output "tcp dport $2" any:hold
	caller "$@"
	poll 10 state syn-recv "$2" || fail "no SYN has come"
	kill -USR1 "$_mangle"
	crossed "$1"
	unmangle "$1"
	saw "$1" "$([ "${3#tcp}" = "$3" ] && echo 0 1 1 || echo 0 0 0)"
}

server() {
	both1 both 7001 smc "$PEER"
	both1 both6 7002 smc6 "$PEER6"
	both1 peer-tcp 7003 smc "$PEER"
	both1 me-tcp 7004 tcp "$PEER"

	# only this side receives the other's SYN in SYN-SENT
	begin
	watch one 7005
	await deaf.7005
	caller one 7005 smc "$PEER"
	crossed one
	saw one "0 1 1"

	# a bound local port alone does not prevent SMC-R
	begin
	app_bg socket listen:7006 mark:up.7006 slot:1 accept:0 recv:3000 send:3000 recv:1=eof close
	app_end "own port: server"
	saw "own port" "1 0 0"
}

client() {
	both2 both 7001 smc "$PEER"
	both2 both6 7002 smc6 "$PEER6"
	both2 peer-tcp 7003 tcp "$PEER"
	both2 me-tcp 7004 smc "$PEER"

	begin
	watch one 7005
	nft "add table inet deaf; add chain inet deaf c { type filter hook input priority 0 ; }; add rule inet deaf c tcp dport 7005 tcp flags & (syn|ack|rst) == syn counter drop"
	mark deaf.7005
	await called.one.1
	poll 10 lost deaf || fail "no SYN has come"
	caller one 7005 smc "$PEER"
	crossed one
	# like any client whose server does not answer the option
	saw one "0 1 0"
	check "one: our SYN had the option" test "$(with one "$SYN")" -ge 1

	await up.7006
	begin
	app "own port: client" socket bind:0.0.0.0:7007 "connect:$PEER:7006" send:3000 recv:3000 shut:wr recv:1=eof close
	saw "own port" "1 0 0"
}
