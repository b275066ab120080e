# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The differential cases: one script (*.api), TCP and SMC-R, two transcripts.
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
API=$TREE/selftests/cases/api

api_server() {
	local mode
	for mode in tcp smc; do
		bg "$PROG/sockapi" server $mode $((9000 + ${#API_RUN}))
		wait "$BG" || fail "sockapi server $mode: exit $?"
		API_RUN=x$API_RUN
	done
}

# api_client SCRIPT FAMILY: both transcripts, and what differs between them
# without being in the list of differences.
api_client() {
	local script=$1 fam=$2 mode made
	for mode in tcp smc; do
		smc_reset
		"$PROG/sockapi" client $mode "$PEER" $((9000 + ${#API_RUN})) "$fam" < "$script" \
			> "$CASEDIR/$mode.txt" 2> "$CASEDIR/$mode.err" || fail "sockapi client $mode: exit $?: $(tail -1 "$CASEDIR/$mode.txt")"
		API_RUN=x$API_RUN
		made=$(sed -n 's/^made //p' "$CASEDIR/$mode.err")
		if [ $mode = tcp ]; then
			:
		elif [ -n "$API_DECLINED" ]; then
			tcp_was_all "client" "$made"
		else
			smc_was "client" "$made" $((made + 40))
		fi
	done
	"$API/compare" "$CASEDIR/tcp.txt" "$CASEDIR/smc.txt" "$API/differences$API_DECLINED" > "$CASEDIR/compare.txt" || :
	cat "$CASEDIR/compare.txt"
	local status text
	while IFS=$'\t' read -r status text; do
		case $status in
		ok) check "$text" true ;;
		known) check "$text" true ;;
		bad) check "$text" false ;;
		esac
	done < "$CASEDIR/compare.txt"
}
API_RUN=
API_DECLINED=

# tcp_was_all DESC N: none used SMC-R, and N of our own at least fell back.
tcp_was_all() {
	local n f
	n=$(($(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses) - _smc_conns))
	f=$(($(smc_fallbacks) - _smc_falls))
	eq "$1: SMC-R connections" "$n" 0
	check "$1: fallbacks ($f, wanted $2)" test "$f" -ge "$2"
}

# api_full_server, api_full_client: the link group is full from now on, and may
# not grow. What the module negotiates is declined, and falls back to TCP.
api_full_server() {
	# an RMB of this size has two elements
	echo 524288 > /proc/sys/net/smcr/rmem
	echo 1 > /proc/sys/net/smcr/max_rmbs_per_lgr
	echo 1 > /proc/sys/net/smcr/max_lgrs
	bg "$PROG/sockcmd" limit:170 socket listen:8000 mark:listens slot:1 accept:0 recv:1 slot:2 accept:0 recv:1 mark:full await:ended
	await full
}
api_full_client() {
	await listens
	bg "$PROG/sockcmd" limit:170 socket "connect:$PEER:8000" send:1 slot:1 socket "connect:$PEER:8000" send:1 await:ended
	await full
	API_DECLINED=.declined
}

# api_declined_server, api_declined_client SCRIPT: a whole case, of connections that all fall back
api_declined_server() {
	api_full_server
	api_server
	mark ended
}
api_declined_client() {
	api_full_client
	api_client "$API/$1" 4
	await ended
}
