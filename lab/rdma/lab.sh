# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions of cases that run the programs of this folder: . "$RDMA/lab.sh"
#
#	rdma_server NAME PORT [KEY=VALUE...]	start it and wait until it listens
#	rdma_served NAME			wait for its end; it must succeed
#	rdma_client NAME HOST PORT [KEY=VALUE...]
#
#	says STATUS TEXT CMD...			CMD ends with STATUS and one line with TEXT
#
# Each of the programs' own checks becomes a subtest.

_limit=wait=$((10 * SLOW))

# cm_listening PORT: a listener of the CM has no socket, so ask the RDMA resource table
cm_listening() { rdma resource show cm_id 2>/dev/null | grep -q "state LISTEN .*:$1 "; }

# said FILE RC: subtests for the program's own checks, and for its success
said() {
	local line n=0
	cat "$1"
	while IFS= read -r line; do
		case $line in
		ok\ *) _subtest ok "$_name: ${line#ok }"; n=$((n + 1)) ;;
		not\ ok\ *) _subtest 'not ok' "$_name: ${line#not ok }"; n=$((n + 1)) ;;
		esac
	done < "$1"
	check "$_name, $ROLE: it ends with success" test "$2" = 0 -a $n -gt 0
}

says() {
	local status=$1 text=$2 rc=0 out; shift 2
	out=$("$@" 2>&1) || rc=$?
	eq "$text: exit status" $rc "$status"
	eq "$text: lines" "$(wc -l <<< "$out")" 1
	check "$text: said by '$out'" grep -qF -- "$text" <<< "$out"
}

rdma_server() {
	local name=$1 port=$2; shift 2
	bg "$RDMA/$name" server "$port" "$_limit" "$@"
	poll 10 cm_listening "$port" || fail "$name does not listen: $(cat "$CASEDIR/$ROLE-bg$_nbg.log")"
}

rdma_served() {
	local rc=0
	_name=$1
	wait "$BG" || rc=$?
	said "$CASEDIR/$ROLE-bg$_nbg.log" $rc
}

rdma_client() {
	local rc=0
	_name=$1; shift
	"$RDMA/$_name" client "$@" "$_limit" > "$CASEDIR/$_name.out" 2>&1 || rc=$?
	said "$CASEDIR/$_name.out" $rc
}
