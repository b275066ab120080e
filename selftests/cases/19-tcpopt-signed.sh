# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Signed segments. With TCP-AO, timestamps, SACK and window scaling the header is full, so
# the option is left out, and the connection is plain TCP. TCP-MD5 leaves room for the
# option, if it may be signed. The option never displaces another one, and never makes a
# signature wrong.
#
# covers: T-06 T-13
# needs: uml
# why: Debian's kernels are built without TCP-AO
# tags: tcpopt
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

# number of signatures that the kernel has counted as wrong or missing
badly_signed() {
	nstat -asz TcpExtTCPMD5NotFound TcpExtTCPMD5Unexpected TcpExtTCPMD5Failure TcpExtTCPAOBad TcpExtTCPAOKeyNotFound |
		awk '/^Tcp/ { n += $2 } END { print n + 0 }'
}

srv() {
	begin
	app_bg "$@" "listen:$_port" "mark:up.$_port" slot:1 accept:0 recv:2000 send:3000 recv:1=eof close
	app_end "$_port: server"
}

server() {
	local _port
	_port=5001; srv socket "md5:$PEER"
	if [ "$(tcpopt_backend)" = native ]; then saw md5 "1 0 0"; else saw md5 "0 1 0"; fi
	_port=5002; srv socket "ao:$PEER"; saw ao "0 1 0"
	_port=5003; srv socket:smc6 "md5:$PEER6"
	if [ "$(tcpopt_backend)" = native ]; then saw md5-6 "1 0 0"; else saw md5-6 "0 1 0"; fi
	eq "segments badly signed" "$(badly_signed)" 0
}

# clt NAME PORT ADDR CALL...
clt() {
	local name=$1 port=$2 addr=$3; shift 3
	await "up.$port"
	begin
	watch "$name" "$port"
	app "$name: client" "$@" "connect:$addr:$port" send:2000 recv:3000 shut:wr recv:1=eof close
	watched
}

# full NAME KIND+LENGTH: every SYN and SYN-ACK has this option, and MSS, window scaling
# and SACK as without the SMC-R option
full() {
	local all signed others
	all=$(any "$1" "$SYN or $SYNACK")
	signed=$(packets "$1" "$SYN or $SYNACK" | grep -c "$2" || :)
	others=$(tcpdump -r "$(pcap "$1")" -n "$SYN or $SYNACK" 2>/dev/null | grep mss | grep wscale | grep -c sackOK || :)
	check "$1: SYN and SYN-ACK are there" test "$all" -ge 2
	eq "$1: signed SYNs and SYN-ACKs" "$signed" "$all"
	eq "$1: with MSS, window scaling and SACK" "$others" "$all"
}

client() {
	local yes=no
	[ "$(tcpopt_backend)" = netfilter ] || yes=yes
	clt md5 5001 "$PEER" socket "md5:$PEER"
	full md5 1312
	on_wire md5 $yes $yes $yes
	if [ $yes = yes ]; then saw md5 "1 0 0"; else saw md5 "0 1 0"; fi

	clt ao 5002 "$PEER" socket "ao:$PEER"
	full ao 1d10
	on_wire ao no no no
	saw ao "0 1 0"
	check "ao: SYN with timestamps" test "$(tcpdump -r "$(pcap ao)" -n "$SYN" 2>/dev/null | grep -c 'TS val')" -ge 1

	clt md5-6 5003 "$PEER6" socket:smc6 "md5:$PEER6"
	if [ $yes = yes ]; then saw md5-6 "1 0 0"; else saw md5-6 "0 1 0"; fi
	eq "segments badly signed" "$(badly_signed)" 0
}
