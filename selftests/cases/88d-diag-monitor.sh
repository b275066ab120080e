# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# smcctl monitor on both hosts: the events of a first contact, of the end of an idle
# group, of a link whose peer has gone silent, of a removed device and of DELETE LINK by
# the operator, in order and with their reasons. Another namespace gets none of them. A
# monitor that does not read loses some, reports that, and shows the objects that exist
# then.
#
# covers: MISC-14
# timeout: 120
# tags: diag lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
FIRST="group-forming link-adding link-active group-active"

# monitor NAME [OPTION]...: in $_log, $BG
monitor() {
	bg "${@:2}" "$SMCCTL" -j monitor
	_log=$CASEDIR/$ROLE-bg$_nbg.log
	poll 10 grep -q listening "$_log" || fail "$1 does not listen"
}

# events LOG [FROM]: "KIND[:REASON] ..." from this line on
events() {
	tail -n "+$((${2:-0} + 1))" "$1" | jq -r 'select(.event != "state") | .event + if ."reason-name" then ":" + ."reason-name" else "" end' | paste -sd' '
}
length() { wc -l < "$1"; }
# told KIND: has such an event come since the last time? No fork, because loops call it.
told() {
	local lines
	mapfile -t -s "$_from" lines < "$_mine"
	[[ "${lines[*]}" == *"\"$1\""* ]]
}
# hears WHAT EVENTS: the events since the last time, up to the end of a link, match the
# pattern EVENTS
hears() {
	local got
	poll 20 told link-deleted || :
	got=$(events "$_mine" "$_from")
	# shellcheck disable=SC2053
	check "$ROLE, $1: ${got:-nothing}" test "$got" = "$2" -o "$got" = "${3:-$2}"
	_from=$(length "$_mine")
}

# talk PORT: a connection that stays until its group goes
talk() {
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server "$1" endless=1 idle=30000
		poll 10 listening "$1"
		mark "up.$1"
	else
		await "up.$1"
		bg "$PROG/xfer" client "$PEER" "$1" endless=1 idle=30000
	fi
	_prog=$BG
	poll 20 told group-active || fail "$1: no first contact: $(events "$_mine" "$_from")"
	barrier "busy.$1"
}
# its end, with whatever status
quiet() {
	poll 20 gone "$_prog" || { check "$1: $ROLE does not hang" false; kill -KILL "$_prog"; }
	wait "$_prog" || :
}

the_lgr() { "$SMCCTL" -j linkgroup | jq 'first."lgr-id"'; }

all() {
	local _mine _other _slow _from _prog id slow mine
	ip netns add deaf
	monitor "the other namespace" ip netns exec deaf; _other=$_log
	# one link: what becomes of a second one is in 88e
	fast max_links=1
	monitor "this one"; _mine=$_log mine=$BG
	_from=$(length "$_mine")
	eq "$ROLE: nothing is there yet" "$(events "$_mine")" listening

	# --- idle: that is the server's timer
	if [ "$ROLE" = server ]; then
		fast t_lgr_idle=500
		smc_serve idle 5000
		hears "an idle group" "$FIRST group-ended:lgr-idle link-deleted"
		fast t_lgr_idle=600000
	else
		await up.idle
		check "idle: client" "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
		hears "the peer ends an idle group" "$FIRST group-ended:lgr-deleted link-deleted"
	fi
	barrier idle

	# --- the client falls silent: neither host receives anything any more
	fast t_testlink=500 t_llc=500
	talk 5001
	[ "$ROLE" = server ] || rdma_cut
	hears "silence" "$FIRST link-failed:llc-timeout group-ended:llc-timeout link-deleted" \
		"$FIRST link-failed:link-error group-ended:link-error link-deleted"
	quiet silence
	barrier silent
	[ "$ROLE" = server ] || rdma_mend
	fast t_testlink=60000 t_llc=2000
	barrier mended

	# --- the client's device goes
	talk 5002
	[ "$ROLE" = server ] || rnic_delete 0
	if [ "$ROLE" = server ]; then
		hears "the peer's device goes" "$FIRST group-ended:lgr-deleted link-deleted"
	else
		hears "the device goes" "$FIRST group-ended:link-device link-deleted"
	fi
	quiet device
	[ "$ROLE" = server ] || rnic_add 0
	poll 20 rnic_usable 0 || fail "the device does not come back"
	barrier device

	# --- DELETE LINK by the operator of the server
	talk 5003
	id=$(the_lgr)
	barrier known
	if [ "$ROLE" = server ]; then
		check "the operator" "$SMCCTL" linkgroup delete "$id"
		hears "the operator" "$FIRST group-ended:lgr-shutdown link-deleted"
	else
		hears "the peer's operator" "$FIRST group-ended:lgr-deleted link-deleted"
	fi
	quiet operator
	eq "$ROLE: which group, device, port and role" \
		"$(tail -n 1 "$_mine" | jq -c '[.lgr."lgr-id", .link."lgr-id", .link."link-num", .link."dev-name", .link.port, .lgr.role]')" \
		"[$id,$id,1,\"$(rnic 0)\",1,\"$ROLE\"]"
	eq "$ROLE: the peer's GID" "$(tail -n 1 "$_mine" | jq -r '.link."peer-gid"')" "::ffff:$PEER"
	barrier deleted

	# --- one that does not read, with room for next to nothing
	bg "$SMCCTL" -j monitor --rcvbuf 1
	slow=$BG _slow=$CASEDIR/$ROLE-bg$_nbg.log
	poll 10 grep -q listening "$_slow" || fail "the slow one does not listen"
	kill -STOP "$slow"
	barrier stopped
	talk 5004
	barrier reached
	kill -CONT "$slow"
	check "$ROLE: the slow one is told that it lost some" poll 10 grep -q '"lost"' "$_slow"
	# twice the same number: a group and a link, of after the loss
	id=$(the_lgr)
	now_shown() { [ "$(sed '1,/"lost"/d' "$_slow" | jq -c 'select(.event == "state") | (.lgr // .link)."lgr-id"' | paste -sd' ')" = "$id $id" ]; }
	check "$ROLE: and sees what there is" poll 10 now_shown
	kill -TERM "$slow"
	check "$ROLE: the slow one ends" wait "$slow"
	barrier told
	[ "$ROLE" = client ] || "$SMCCTL" linkgroup delete "$id"
	hears "the other one lost none" "$FIRST group-ended:$([ "$ROLE" = server ] && echo lgr-shutdown || echo lgr-deleted) link-deleted"
	quiet last

	eq "$ROLE: another namespace hears nothing" "$(events "$_other")" listening
	kill -INT "$mine"
	check "$ROLE: SIGINT ends it" wait "$mine"
	ip netns del deaf
}

server() { all; }
client() { all; }
