# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What looks like the option and is not: other experiments, kind 253, wrong
# lengths, lists that end too early, on SYN and on SYN-ACK. All of that gives
# plain TCP, and beside the option it does not matter. The option on the third
# ACK says nothing, with one on the SYN and without.
#
# covers: T-05 T-09 T-10
# timeout: 150
# tags: tcpopt wip
# wip: has not been run yet
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

X=$PROG/xfer
OURS=0101fe06e2d4c3d9

# name and bytes; everything is behind what TCP sends, which is 20 bytes
STRANGERS=(
	"identifier of Fast Open size"	fe04eb9f
	"last byte of the identifier"	fe06e2d4c3c40101
	"identifier in wrong order"	fe06d9c3d4e20101
	"kind 253"			fd06e2d4c3d90101
	"inside of another option"	fd0afe06e2d4c3d900000101
	"behind the end of the list"	0000fe06e2d4c3d9
	"length 0"			fe00e2d4c3d90101
	"length 1"			fe01e2d4c3d90101
	"length 2"			fe02e2d4c3d90101
	"length 4"			fe04e2d4c3d90101
	"length 5"			fe05e2d4c3d90101
	"length 7"			fe07e2d4c3d90001
	"length beyond the header"	fe06e2d4
	"length far beyond the header"	feffe2d4c3d90101
	"kind without length"		010101fe
)
# TCP of kernels with CONFIG_SMC itself takes every even length from 6
LONGER=(
	"length 8"			fe08e2d4c3d90000
	"length 10"			fe0ae2d4c3d9000000000101
)
# beside ours
BESIDE=(
	"another experiment in front"	front=fe04eb9f
	"another experiment behind"	add=fe04eb9f
	"another identifier in front"	front=fe06e2d4c3c40101
	"kind 253 behind"		add=fd06e2d4c3d90101
)

lists() {
	[ "$(tcpopt_backend)" = native ] || STRANGERS+=("${LONGER[@]}")
}
N_BESIDE=$((${#BESIDE[@]} / 2))

# srv PORT CONNS FAM
srv() {
	bg "$X" server "$1" conns="$2" fam="$3" send=2k recv=1k
	poll 10 listening "$1"
}

server() {
	local n pid pids=()
	lists
	n=$((${#STRANGERS[@]} / 2))
	smc_reset
	# strangers on the SYN; beside ours on SYN and on SYN-ACK; third ACK
	srv 5000 "$n" smc; pids+=("$BG")
	srv 5001 $((2 * N_BESIDE)) smc; pids+=("$BG")
	srv 5002 "$n" tcp; pids+=("$BG")
	srv 5003 1 smc; pids+=("$BG")
	srv 5004 2 smc; pids+=("$BG")
	mark up
	for pid in "${pids[@]}"; do
		check "server" wait "$pid" || :
	done
	eq "SMC-R connections" "$(($(smc_servers) - _smc_conns))" $((2 * N_BESIDE + 1)) || :
	eq "fallbacks" "$(($(smc_fallbacks) - _smc_falls))" $((n + 2)) || :
}

to_server() { echo "tcp dport $1 tcp flags & (syn|ack|rst) == syn"; }
to_client() { echo "tcp sport $1 tcp flags & (syn|ack|rst) == (syn|ack)"; }

# clt DESC HOST PORT FAM
clt() { check "$1" "$X" client "$2" "$3" fam="$4" send=1k recv=2k idle=$((5000 * SLOW)) || :; }

client() {
	local i n
	lists
	n=${#STRANGERS[@]}
	await up

	watch strangers 5000
	for ((i = 0; i < n; i += 2)); do
		mangle output "$(to_server 5000)" "syn:add=${STRANGERS[i + 1]}"
		clt "SYN, ${STRANGERS[i]}: plain TCP" "$PEER" 5000 tcp
		unmangle "SYN, ${STRANGERS[i]}"
	done
	watched
	check "every SYN was answered" test "$(any strangers "$SYNACK")" -ge $((n / 2)) || :
	eq "SYN-ACKs with the option" "$(with strangers "$SYNACK")" 0 || :
	eq "CLC messages" "$(clc strangers)" 0 || :

	smc_reset
	watch beside 5001
	for ((i = 0; i < 2 * N_BESIDE; i += 2)); do
		mangle output "$(to_server 5001)" "syn:${BESIDE[i + 1]}"
		clt "SYN, ${BESIDE[i]}" "$PEER" 5001 smc
		unmangle "SYN, ${BESIDE[i]}"
		mangle input "$(to_client 5001)" "synack:${BESIDE[i + 1]}"
		clt "SYN-ACK, ${BESIDE[i]}" "$PEER" 5001 smc
		unmangle "SYN-ACK, ${BESIDE[i]}"
	done
	watched
	smc_was "beside another experiment" $((2 * N_BESIDE)) $((2 * N_BESIDE))
	check "no SYN-ACK is without the option" test "$(with beside "$SYNACK")" = "$(any beside "$SYNACK")" || :

	smc_reset
	watch answers 5002
	for ((i = 0; i < n; i += 2)); do
		mangle input "$(to_client 5002)" "synack:add=${STRANGERS[i + 1]}"
		clt "SYN-ACK, ${STRANGERS[i]}: plain TCP" "$PEER" 5002 smc
		unmangle "SYN-ACK, ${STRANGERS[i]}"
	done
	watched
	tcp_was "strangers on the SYN-ACK" $((n / 2))
	check "every SYN had the option" test "$(with answers "$SYN")" = "$(any answers "$SYN")" || :
	eq "CLC messages to a TCP server" "$(clc answers)" 0 || :

	smc_reset
	watch again 5003
	mangle output "tcp dport 5003" "ack:add=$OURS"
	clt "on SYN and third ACK" "$PEER" 5003 smc
	unmangle "on SYN and third ACK"
	watched
	smc_was "on SYN and third ACK" 1 1

	smc_reset
	watch late 5004
	mangle output "tcp dport 5004" "ack:add=$OURS"
	clt "only on the third ACK: plain TCP" "$PEER" 5004 tcp
	unmangle "only on the third ACK"
	mangle output "tcp dport 5004" syn:strip "ack:add=$OURS"
	clt "taken from the SYN, and on the third ACK: plain TCP" "$PEER" 5004 smc
	unmangle "taken from the SYN"
	watched
	tcp_was "taken from the SYN" 1
	eq "only on the third ACK: SYN-ACKs with the option" "$(with late "$SYNACK")" 0 || :
	eq "only on the third ACK: CLC messages" "$(clc late)" 0 || :
}
