# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases about the TCP option: . "$PROG/tcpopt.sh" after smc.sh. What was on
# the wire is read from the packets by tcpdump in the guest; eth0 only.

OM=$PROG/optmangle

# tcpopt_backend: native or netfilter
tcpopt_backend() { "$SMCCTL" -j show | jq -r '[.. | objects | ."tcpopt-backend"? // empty] | first'; }

# watch NAME PORT: packets of this port until watched
watch() {
	tcpdump --immediate-mode -i eth0 -n -s 0 -U -w "$CASEDIR/$1.pcap" "tcp port $2" > "$CASEDIR/$1.dump" 2>&1 &
	_dump=$!
	poll 10 grep -q 'listening on' "$CASEDIR/$1.dump" || fail "tcpdump does not start"
}
watched() { nap 0.3; kill -INT "$_dump"; wait "$_dump" || :; }

# packets NAME FILTER: in hex, one line each
packets() {
	tcpdump -r "$CASEDIR/$1.pcap" -n -xx "$2" 2>/dev/null |
		awk '/^[0-9]/ { if (l) print l; l = "" } /^\t0x/ { sub(/^\t0x[0-9a-f]*: */, ""); gsub(/ /, ""); l = l $0 } END { if (l) print l }'
}
SYN='tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn'
SYNACK='tcp[tcpflags] & (tcp-syn|tcp-ack) == (tcp-syn|tcp-ack)'
with() { packets "$1" "$2" | grep -c fe06e2d4c3d9 || :; }
any() { packets "$1" "$2" | grep -c . || :; }
# CLC bytes in a payload: not in a SYN
clc() { packets "$1" 'tcp[tcpflags] & tcp-syn == 0' | grep -c "e2d4c3d90[1-4]" || :; }

# on_wire NAME SYNS SYNACKS CLC: yes, no for each
on_wire() {
	local s
	s=$(with "$1" "$SYN")
	check "$1: option on the SYN: $2" test "$([ "$s" -gt 0 ] && echo yes || echo no)" = "$2" || :
	s=$(with "$1" "$SYNACK")
	check "$1: option on the SYN-ACK: $3" test "$([ "$s" -gt 0 ] && echo yes || echo no)" = "$3" || :
	s=$(clc "$1")
	check "$1: CLC messages: $4" test "$([ "$s" -gt 0 ] && echo yes || echo no)" = "$4" || :
	check "$1: every SYN is like the others" test "$(with "$1" "$SYN")" = 0 -o "$(with "$1" "$SYN")" = "$(any "$1" "$SYN")" || :
}

strip() { nft add table ip strip; nft add chain ip strip c "{ type filter hook $1 priority 0 ; }"; nft add rule ip strip c tcp dport "$2" reset tcp option 254 || return; nft add rule ip strip c tcp sport "$2" reset tcp option 254; }
unstrip() { nft delete table ip strip; }

# mangle HOOK MATCH WHICH:ACTION...: packets of this hook (input, output) that
# the nft expression matches go through optmangle, until unmangle
mangle() {
	local hook=$1 match=$2; shift 2
	"$OM" 7 "$@" > "$CASEDIR/$ROLE-mangle.log" 2>&1 &
	_mangle=$!
	poll 10 grep -q ready "$CASEDIR/$ROLE-mangle.log" || fail "optmangle does not start"
	nft "add table inet mangle; add chain inet mangle c { type filter hook $hook priority 0 ; }; add rule inet mangle c $match queue num 7" ||
		fail "nft cannot queue"
}
mangled() { grep -q "$1" "$CASEDIR/$ROLE-mangle.log"; }
# unmangle DESC: it did its work
unmangle() {
	nft delete table inet mangle
	kill "$_mangle" 2>/dev/null || :
	check "$1: the middlebox has changed something" mangled ' ' || :
	check "$1: the middlebox has no complaint" wait "$_mangle" || :
}

# lose NAME HOOK MATCH: the first packet that the nft expression matches is lost
lose() { nft "add table inet $1; add chain inet $1 c { type filter hook $2 priority 0 ; }; add rule inet $1 c $3 numgen inc mod 1000 0 counter drop"; }
lost() { nft list table inet "$1" | grep -q 'packets [1-9]'; }
