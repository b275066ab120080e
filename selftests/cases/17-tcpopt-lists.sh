# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Lists of TCP options with look-alikes of the SMC-R option: other experiments, kind 253,
# wrong lengths, lists that end too early, on SYN and on SYN-ACK. Alone they give plain
# TCP; beside the option they have no effect. Lists that TCP itself rejects get no answer,
# as without the module. The option on the third ACK has no effect, whether the SYN
# carried one or not.
#
# covers: T-05 T-09
# tags: tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

X=$PROG/xfer
OURS=0101fe06e2d4c3d9

# name and bytes, one connection each; the bytes follow TCP's own options, which are 20 bytes
STRANGERS=(
	"identifier of Fast Open size"	fe04eb9f
	"last byte of the identifier"	fe06e2d4c3c40101
	"identifier in wrong order"	fe06d9c3d4e20101
	"kind 253"			fd06e2d4c3d90101
	"inside of another option"	fd0afe06e2d4c3d900000101
	"behind the end of the list"	0000fe06e2d4c3d9
	"length 2"			fe020101
	"length 4"			fe04e2d4
	"length 5"			fe05e2d4c3010101
	"length 7"			fe07e2d4c3d90001
	"length 4, identifier of 4"	fe04e2d4c3d90101
	"length beyond the header"	fe06e2d4
	"kind without length"		010101fe
)
# Kernels with TCP-AO drop a segment whose list they cannot read, unless
# what is left is too short for one of TCP-AO's options
BROKEN=(
	"length 0"			fe00e2d4c3d90101
	"length 1"			fe01e2d4c3d90101
	"length far beyond the header"	feffe2d4c3d90101
)
# In kernels with CONFIG_SMC TCP itself accepts every even length from 6: T-10 does not
# hold there
LONGER=(
	"length 8"			fe08e2d4c3d90000
	"length 10"			fe0ae2d4c3d9000000000101
)
# beside the option: another experiment, another identifier, kind 253
BESIDE=(front=fe04eb9f add=fe04eb9f front=fe06e2d4c3c40101 add=fd06e2d4c3d90101)

# rules WHICH ACTION NAME BYTES...: for optmangle, in $_rules
rules() {
	local which=$1 action=$2; shift 2
	_rules=()
	while [ $# -gt 0 ]; do
		_rules+=("$which:$action=$2")
		shift 2
	done
}
lists() {
	[ "$(tcpopt_backend)" = native ] || STRANGERS+=("${LONGER[@]}")
	n=$((${#STRANGERS[@]} / 2)) beside=${#BESIDE[@]} broken=$((${#BROKEN[@]} / 2))
}

# srv PORT CONNS FAM
srv() {
	bg "$X" server "$1" conns="$2" fam="$3" send=2k recv=1k
	poll 10 listening "$1"
}

server() {
	local n beside broken pid pids=()
	lists
	begin
	# look-alikes on the SYN; others beside the option on SYN and on SYN-ACK; third ACK
	srv 5000 "$n" smc; pids+=("$BG")
	srv 5001 $((2 * beside)) smc; pids+=("$BG")
	srv 5002 "$n" tcp; pids+=("$BG")
	srv 5003 1 smc; pids+=("$BG")
	srv 5004 2 smc; pids+=("$BG")
	# look-alikes that may get no answer, and the same with a server without SMC-R
	srv 5005 99 smc; srv 5006 99 tcp
	mark up
	for pid in "${pids[@]}"; do
		check "server" wait "$pid"
	done
	await broken
	saw "all of it" "$((2 * beside + 1)) $((n + 2 + MARK)) 0"
}

to_server() { echo "tcp dport $1 tcp flags & (syn|ack|rst) == syn"; }
to_client() { echo "tcp sport $1 tcp flags & (syn|ack|rst) == (syn|ack)"; }

# clt DESC PORT FAM [CONNS]
clt() { check "$1" "$X" client "$PEER" "$2" fam="$3" conns="${4:-1}" send=1k recv=2k idle=$((5000 * SLOW)); }

# status PORT FAM CONNS: connections at once, in a second or not at all
status() {
	_status=0
	timeout "$SLOW" "$X" client "$PEER" "$1" fam="$2" conns="$3" par="$3" send=1k recv=2k || _status=$?
}
# like DESC STATUS: the result with SMC-R on one side is that without
like() {
	check "$1: plain TCP or silence" test "$2" = 0 -o "$2" = 124
	eq "$1: as TCP does" "$2" "$_status"
}

client() {
	local n beside broken smc
	lists
	await up

	rules syn add "${STRANGERS[@]}"
	watch strangers 5000
	mangle output "$(to_server 5000)" each "${_rules[@]}"
	clt "strangers on the SYN: plain TCP" 5000 tcp "$n"
	unmangle "strangers on the SYN" "$n"
	watched
	check "every SYN was answered" test "$(any strangers "$SYNACK")" -ge "$n"
	eq "SYN-ACKs with the option" "$(with strangers "$SYNACK")" 0
	eq "CLC messages" "$(clc strangers)" 0

	begin
	watch beside 5001
	mangle output "$(to_server 5001)" each "${BESIDE[@]/#/syn:}"
	clt "SYN, ours beside others" 5001 smc "$beside"
	unmangle "SYN, ours beside others" "$beside"
	mangle input "$(to_client 5001)" each "${BESIDE[@]/#/synack:}"
	clt "SYN-ACK, ours beside others" 5001 smc "$beside"
	unmangle "SYN-ACK, ours beside others" "$beside"
	watched
	saw "beside another experiment" "$((2 * beside)) 0 0"
	check "no SYN-ACK is without the option" test "$(with beside "$SYNACK")" = "$(any beside "$SYNACK")"

	begin
	rules synack add "${STRANGERS[@]}"
	watch answers 5002
	mangle input "$(to_client 5002)" each "${_rules[@]}"
	clt "strangers on the SYN-ACK: plain TCP" 5002 smc "$n"
	unmangle "strangers on the SYN-ACK" "$n"
	watched
	saw "strangers on the SYN-ACK" "0 $n 0"
	check "every SYN had the option" test "$(with answers "$SYN")" = "$(any answers "$SYN")"
	eq "CLC messages to a TCP server" "$(clc answers)" 0

	begin
	watch again 5003
	mangle output "tcp dport 5003" "ack:add=$OURS"
	clt "on SYN and third ACK" 5003 smc
	unmangle "on SYN and third ACK"
	watched
	saw "on SYN and third ACK" "1 0 0"

	begin
	watch late 5004
	mangle output "tcp dport 5004" "ack:add=$OURS"
	clt "only on the third ACK: plain TCP" 5004 tcp
	unmangle "only on the third ACK"
	mangle output "tcp dport 5004" syn:strip "ack:add=$OURS"
	clt "taken from the SYN, and on the third ACK: plain TCP" 5004 smc
	unmangle "taken from the SYN"
	watched
	saw "taken from the SYN" "0 1 0"
	eq "only on the third ACK: SYN-ACKs with the option" "$(with late "$SYNACK")" 0
	eq "only on the third ACK: CLC messages" "$(clc late)" 0

	rules syn add "${BROKEN[@]}"
	watch broken 5005
	mangle output "$(to_server 5005)" each "${_rules[@]}"
	status 5005 tcp "$broken"
	smc=$_status
	unmangle "broken lists" "$broken"
	watched
	mangle output "$(to_server 5006)" each "${_rules[@]}"
	status 5006 tcp "$broken"
	unmangle "broken lists, without SMC-R" "$broken"
	like "broken lists" "$smc"
	eq "broken lists: SYN-ACKs with the option" "$(with broken "$SYNACK")" 0
	eq "broken lists: CLC messages" "$(clc broken)" 0
	mark broken $((smc ? 0 : broken))

	rules synack add "${BROKEN[@]}"
	watch answer 5006
	mangle input "$(to_client 5006)" each "${_rules[@]}"
	status 5006 smc "$broken"
	smc=$_status
	unmangle "broken lists on the SYN-ACK" "$broken"
	watched
	eq "broken lists on the SYN-ACK: CLC messages" "$(clc answer)" 0
	mangle input "$(to_client 5006)" each "${_rules[@]}"
	status 5006 tcp "$broken"
	unmangle "broken lists on the SYN-ACK, without SMC-R" "$broken"
	like "broken lists on the SYN-ACK" "$smc"
}
