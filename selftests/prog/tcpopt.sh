# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases about the TCP option: . "$PROG/tcpopt.sh" after smc.sh. What was on
# the wire is read from the packets by tcpdump in the guest; eth0 only.

OM=$PROG/optmangle

# tcpopt_backend: native or netfilter
tcpopt_backend() { "$SMCCTL" -j show | jq -r '[.. | objects | ."tcpopt-backend"? // empty] | first'; }

# begin: start of the count of since and saw; each calls smcctl once
_snap() {
	local s
	s=$(smc_stats) || fail "smcctl stats failed"
	awk '$1 ~ /^(client|server)-(first-contacts|reuses)$/ { s += $2 }
		$1 ~ /^(client|server)-fallbacks$/ { f += $2 }
		$1 == "simultaneous-open" { o += $2 }
		END { print s + 0, f + 0, o + 0 }' <<< "$s"
}
begin() { read -r -a _then <<< "$(_snap)"; }
# since: SMC-R connections, fallbacks and simultaneous opens of this side
since() {
	local now
	read -r -a now <<< "$(_snap)"
	echo "$((now[0] - _then[0])) $((now[1] - _then[1])) $((now[2] - _then[2]))"
}
saw() { eq "$1: SMC-R connections, fallbacks, simultaneous opens" "$(since)" "$2"; }

# watch NAME PORT[-PORT]: captures packets of these ports until watched; in both
# guests if need be. Of each packet headers and CLC only: with whole packets the
# ring has room for 8 of them.
pcap() { echo "$CASEDIR/$ROLE-$1.pcap"; }
watch() {
	local log=$CASEDIR/$ROLE-$1.dump
	tcpdump --immediate-mode -i eth0 -n -s 256 -U -w "$(pcap "$1")" "tcp portrange $2" > "$log" 2>&1 &
	_dump=$!
	poll 10 grep -q 'listening on' "$log" || fail "tcpdump does not start"
}
watched() { nap 0.3; kill -INT "$_dump"; wait "$_dump" || :; }

# packets NAME FILTER: in hex, one line each
packets() {
	tcpdump -r "$(pcap "$1")" -n -xx "$2" 2>/dev/null |
		awk '/^[0-9]/ { if (l) print l; l = "" } /^\t0x/ { sub(/^\t0x[0-9a-f]*: */, ""); gsub(/ /, ""); l = l $0 } END { if (l) print l }'
}
# tcp[] is for IPv4 only; IPv6 without extension headers
SYN='(tcp[13] & 0x12 == 2 or ip6[53] & 0x12 == 2)'
SYNACK='(tcp[13] & 0x12 == 0x12 or ip6[53] & 0x12 == 0x12)'
NO_SYN='(tcp[13] & 2 == 0 or ip6[53] & 2 == 0)'
with() { packets "$1" "$2" | grep -c fe06e2d4c3d9 || :; }
any() { packets "$1" "$2" | grep -c . || :; }
# CLC bytes in a payload: not in a SYN
clc() { packets "$1" "$NO_SYN" | grep -c "e2d4c3d90[1-4]" || :; }

# on_wire NAME SYNS SYNACKS CLC: yes or no for each. Counts as with, any and clc do, but reads the
# packets once.
on_wire() {
	local syns synacks clcs all
	read -r all syns synacks clcs <<< "$(packets "$1" '' | awk '
		function nibble(at) { return index("0123456789abcdef", substr($0, at, 1)) - 1 }
		{ at = 2 * (14 + (substr($0, 25, 4) == "0800" ? 4 * nibble(30) : 40) + 13) + 1
		  syn = int(nibble(at + 1) / 2) % 2; ack = nibble(at) % 2; option = index($0, "fe06e2d4c3d9") > 0
		  if (syn && !ack) { all++; with += option }
		  if (syn && ack) both += option
		  if (!syn && /e2d4c3d90[1-4]/) clc++ }
		END { print all + 0, with + 0, both + 0, clc + 0 }')"
	eq "$1: option on the SYN: $2" "$([ "$syns" -gt 0 ] && echo yes || echo no)" "$2"
	eq "$1: option on the SYN-ACK: $3" "$([ "$synacks" -gt 0 ] && echo yes || echo no)" "$3"
	eq "$1: CLC messages: $4" "$([ "$clcs" -gt 0 ] && echo yes || echo no)" "$4"
	check "$1: every SYN is like the others" test "$syns" = 0 -o "$syns" = "$all"
}

strip() { nft add table ip strip; nft add chain ip strip c "{ type filter hook $1 priority 0 ; }"; nft add rule ip strip c tcp dport "$2" reset tcp option 254 || return; nft add rule ip strip c tcp sport "$2" reset tcp option 254; }
unstrip() { nft delete table ip strip; }

# mangle HOOK MATCH WHICH:ACTION...: packets of this hook (input, output) that
# the nft expression matches go through optmangle, until unmangle
mangle() {
	local hook=$1 match=$2; shift 2
	rm -f "$CASEDIR/$ROLE-mangle.log"	# "ready" shall be this one's
	"$OM" 7 "$@" > "$CASEDIR/$ROLE-mangle.log" 2>&1 &
	_mangle=$!
	poll 10 grep -q ready "$CASEDIR/$ROLE-mangle.log" || fail "optmangle does not start"
	nft "add table inet mangle; add chain inet mangle c { type filter hook $hook priority 0 ; }; add rule inet mangle c $match queue num 7" ||
		fail "nft cannot queue"
}
mangled() { grep -q "$1" "$CASEDIR/$ROLE-mangle.log"; }
# unmangle DESC [N]: ends mangle; it has changed packets, those of N connections
unmangle() {
	nft delete table inet mangle
	kill "$_mangle" 2>/dev/null || :
	check "$1: the middlebox has no complaint" wait "$_mangle"
	if [ -z "${2:-}" ]; then
		check "$1: the middlebox has changed something" mangled ' '
	else
		eq "$1: connections that the middlebox has changed" \
			"$(grep -o 'conn [0-9]*' "$CASEDIR/$ROLE-mangle.log" | sort -u | wc -l)" "$2"
	fi
}

# lose NAME HOOK MATCH: the first packet that the nft expression matches is lost
lose() { nft "add table inet $1; add chain inet $1 c { type filter hook $2 priority 0 ; }; add rule inet $1 c $3 numgen inc mod 1000 0 counter drop"; }
# lose_all TABLE HOOK FILTER: every one of them until regain TABLE
lose_all() { nft "add table inet $1; add chain inet $1 c { type filter hook $2 priority 0 ; }; add rule inet $1 c $3 counter drop"; }
regain() { nft delete table inet "$1"; }
# (no pipe: nft would fail when grep does not read to the end)
lost() { [[ $(nft list table inet "$1") == *"packets "[1-9]* ]]; }
