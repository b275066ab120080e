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
		[ $mode = tcp ] || smc_was "client" "$made" $((made + 40))
	done
	"$API/compare" "$CASEDIR/tcp.txt" "$CASEDIR/smc.txt" "$API/differences" > "$CASEDIR/compare.txt" || :
	cat "$CASEDIR/compare.txt"
	local status text
	while IFS=$'\t' read -r status text; do
		case $status in
		ok) check "$text" true ;;
		known) check "$text" true ;;
		bad) check "$text" false || : ;;
		esac
	done < "$CASEDIR/compare.txt"
}
API_RUN=
