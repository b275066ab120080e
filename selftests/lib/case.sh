# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Library of the test cases. A case file defines server() (runs in
# guest 1) and client() (guest 2); either may be missing. An optional host()
# runs on the host after both have passed (captures are complete by then).
#
# A command that fails outside of a condition fails the case; `check` and `eq`
# record their failure, return 0 and let the case go on. Time limits given to
# the functions below count SLOW-fold on slow kernels.
#
#   $ME $ME6 $PEER $PEER6   addresses on the first NIC;  me N, peer N, me6 N, peer6 N
#   $NICS $PEER_NICS $LAN   cards here and there; $LAN is not empty when all are on one LAN
#   $ID $PEER_ID $ROLE $SLOW $LANE $KERNEL $FABRIC
#   $BUSY                   the part of $SLOW that is this machine's (SMCR_SLOW)
#   $DEAR                   what amounts of work are divided by, see guest.sh
#   $RNIC, rnic N, rnic_delete N, rnic_add N, rnic_usable N   the RDMA device on ethN
#   $TREE                   the project;  $PROG test programs;  $LAB the RDMA lab, $RDMA its programs;  $SMCCTL
#   $CASEDIR                the case's folder, shared by both guests and the host

# shellcheck source=selftests/lib/guest.sh
. "$LIB/guest.sh"
PROG=$TREE/selftests/prog
LAB=$TREE/lab
RDMA=$LAB/rdma
SMCCTL=$TREE/tools/smcctl/smcctl
export PROG LAB RDMA SMCCTL

ME=$(me 0) PEER=$(peer 0) ME6=$(me6 0) PEER6=$(peer6 0)
export ME PEER ME6 PEER6

# rnic N: the name of this host's RDMA device on ethN; rnic_delete N, rnic_add N: remove
# it and add it; rnic_usable N: can it be used for $ME?
if [ "$FABRIC" = sim ]; then
	RNIC_TYPE=rnicsim
	rnic() { echo "sim$1$ID"; }
else
	RNIC_TYPE=rxe
	rnic() { echo "rxe$1"; }
fi
RNIC=$(rnic 0)
export RNIC
rnic_delete() { rdma link delete "$(rnic "$1")"; }
rnic_add() { rdma link add "$(rnic "$1")" type $RNIC_TYPE netdev "eth$1"; }
no_rnic() { [ ! -e "/sys/class/infiniband/$(rnic "$1")" ]; }
# The device exists, its port is up, and it has the GID of $ME: ib_core adds GIDs in a
# work item, and until then new connections correctly use TCP.
rnic_usable() {
	local gid port
	port=/sys/class/infiniband/$(rnic "$1")/ports/1
	# shellcheck disable=SC2086
	gid=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${ME//./ })
	grep -q ACTIVE "$port/state" && grep -qsx "$gid" "$port"/gids/*
} 2>/dev/null

# _verdict STATUS [TEXT]: write the verdict, if there is none yet.
_verdict() { [ -s "$CASEDIR/verdict$ID" ] || put "$CASEDIR/verdict$ID" "$*"; }

# fail MSG: end the case, which has failed.
fail() {
	echo "FAIL: $*"
	_verdict fail "$ROLE: $*"
	trap - ERR EXIT
	kill -TERM "$_main" 2>/dev/null
	exit 1
}

# skip MSG: this case cannot be run here.
skip() {
	echo "SKIP: $*"
	_verdict skip "$*"
	trap - ERR EXIT
	exit 0
}

# _failed: how many checks have failed. Counted in the file: some were made in a
# subshell.
_failed() {
	local n
	n=$(grep -sc '^not ok ' "$CASEDIR/ktap$ID") || :
	echo "${n:-0}"
}

_subtest() {
	local status=$1; shift
	# One line; what KTAP would take for a directive must not be in it.
	printf '%s %s\n' "$status" "${*//[#$'\n']/ }" >> "$CASEDIR/ktap$ID"
	echo "[$status] $*"
	[ "$status" = ok ] || : > "$CASEDIR/failed$ID"
}

# passes DESC CMD...: a subtest; passes if CMD succeeds. For conditions: its
# status is CMD's. A failure ends with the last line that CMD has written.
passes() {
	local desc=$1 rc=0 log=$CASEDIR/$ROLE.log at='' last=''; shift
	[ ! /proc/self/fd/1 -ef "$log" ] || read -r _ at < /proc/self/fdinfo/1
	"$@" || rc=$?
	if [ $rc = 0 ]; then
		_subtest ok "$desc"
	else
		[ -z "$at" ] || last=$(tail -c +$((at + 1)) "$log" | tail -n 1)
		_subtest 'not ok' "$desc (exit $rc: $*)${last:+: $last}"
	fi
	return $rc
}

# check DESC CMD...: a subtest; passes if CMD succeeds.
check() { passes "$@" || :; }

# eq DESC ACTUAL EXPECTED: a subtest; passes if both are the same.
eq() {
	if [ "$2" = "$3" ]; then
		_subtest ok "$1"
	else
		_subtest 'not ok' "$1: got '$2', expected '$3'"
	fi
}

# mark NAME [TEXT]: signal the other guest that this point is reached.
mark() {
	local name=$1; shift
	put "$CASEDIR/mark.$name" "$*"
}

_marked() {
	[ ! -s "$CASEDIR/mark.$1" ] || return 0
	[ -s "$CASEDIR/verdict$PEER_ID" ] && [ ! -s "$CASEDIR/mark.$1" ] || return 1
	local v
	v=$(<"$CASEDIR/verdict$PEER_ID")
	case $v in
	# The peer's verdict is that of the case; ours would only hide it.
	pass*) fail "the peer ended without '$1'" ;;
	skip*) skip "${v#skip }" ;;
	*)	# unless our own failed checks are why it ended
		if [ "$(_failed)" = 0 ]; then _verdict stopped "waiting for '$1' when the peer ended"
		else _verdict fail "$ROLE: $(_failed) failed checks"; fi
		trap - ERR EXIT; exit 1 ;;
	esac
}

# await NAME [SECONDS]: wait until the other guest marks NAME; its text is then in
# $MARK. Fails the case when the time is over or the peer has ended.
await() {
	poll "${2:-20}" _marked "$1" || fail "no mark '$1' from the peer within ${2:-20} s x $SLOW"
	# shellcheck disable=SC2034
	MARK=$(<"$CASEDIR/mark.$1")
}

# barrier NAME [SECONDS]: both guests get here before either goes on.
barrier() {
	mark "$1.$ID"
	await "$1.$PEER_ID" "${2:-20}"
}

# eventually SECONDS CMD...: repeat CMD until it succeeds; 1 when the time is over.
eventually() { poll "$@"; }

# into FILE CMD...: its standard output goes there; standard error stays in the log.
into() { "${@:2}" > "$1"; }

# bg CMD...: run it in the background until the case ends. Its pid is in $BG, its
# output in the case's folder.
_nbg=0
bg() {
	_nbg=$((_nbg + 1))
	"$@" > "$CASEDIR/$ROLE-bg$_nbg.log" 2>&1 &
	# shellcheck disable=SC2034
	BG=$!
}

# gone PID: has the process ended? kill -0 still finds a zombie, which bash may
# not reap before its next fork.
gone() {
	local state
	read -r _ _ state _ < "/proc/$1/stat" || return 0
	[ "$state" = Z ]
} 2>/dev/null

# listening PORT: is there a listener on this TCP port (also below AF_SMC)? No fork: loops call it.
listening() {
	local f lines listener
	printf -v listener ':%04X 0+:0000 0A ' "$1"
	for f in /proc/self/net/tcp /proc/self/net/tcp6; do
		mapfile -t lines < $f
		if [[ "${lines[*]}" =~ $listener ]]; then return 0; fi
	done
	return 1
}

# counter NAME: the value of one of the module's counters, or how often a reason occurred.
counter() {
	local text
	text=$'\n'$("$SMCCTL" -a stats) || fail "counter $1: smcctl failed"
	[[ $text =~ $'\n'"$1 "\ *([0-9]+) ]] || fail "there is no counter '$1'"
	echo "${BASH_REMATCH[1]}"
}

# fast NAME=VALUE...: set knobs of the module (net.smcr.*). Timers (t_*) count
# BUSY-fold, as does every limit that a peer keeps on a busy machine: values are
# chosen for an idle one with the debug kernel.
fast() {
	local t v
	for t in "$@"; do
		v=${t#*=}
		[[ $t != t_* ]] || v=$((v * BUSY))
		echo "$v" > "/proc/sys/net/smcr/${t%%=*}"
	done
}

# messages: those of the kernel since this case began.
messages() { dmesg | awk -v begin="smcr-case BEGIN ${CASEDIR##*/[0-9][0-9][0-9]-}" 'index($0, begin) { text = "" } { text = text $0 "\n" } END { printf "%s", text }'; }

# log_all, log_limited: log every message of the network, or as many as usual. The
# limit counts for the whole kernel: other messages may have used it up.
log_all() { message_cost 0; }
log_limited() { message_cost 5; }
# message_cost SECONDS: the part of that limit that a message of the network uses. The
# sysctl is in the kernel's first namespace.
message_cost() {
	local in=()
	[ "$FABRIC" != sim ] || in=(nsenter --net=/run/smcr/net)
	"${in[@]}" sysctl -qw "net.core.message_cost=$1"
}

# real_time: a simulation in the machine's time, not in virtual time.
real_time() { [ "$FABRIC" = sim ] && [ "$KERNEL" != um ] && [ "$KERNEL" != umdbg ]; }

ko_path() { echo "$KO"; }

# load_smcr [PARAM=VALUE...]: only for cases with `# module: none`. In the
# simulation both hosts share one module: the first one loads it, the last one
# removes it, and a host that unloads it first disables it in its namespace.
load_smcr() {
	[ -n "$KO" ] || fail "no smcr.ko was built for this run"
	[ "$FABRIC" = sim ] || { insmod_smcr "$KO" "$@"; return; }
	: > "$CASEDIR/uses$ID"
	[ -d /sys/module/smcr ] || insmod_smcr "$KO" "$@" || [ -d /sys/module/smcr ] || return
	echo 1 > /proc/sys/net/smcr/enabled
}
# On two processors the other host may remove it meanwhile
_unloaded() { rmmod smcr || [ ! -d /sys/module/smcr ]; }
unload_smcr() {
	rm -f "$CASEDIR/uses$ID"
	# What a program has just closed exists for a while: a worker frees it.
	if [ "$FABRIC" = sim ] && [ -e "$CASEDIR/uses$PEER_ID" ]; then
		echo 0 > /proc/sys/net/smcr/enabled
	else
		poll 2 _unloaded
	fi
}

# want_smcr: the module must be there.
want_smcr() { [ -d /sys/module/smcr ] || fail "smcr is not loaded"; }

# _err STATUS LINE COMMAND: a command failed outside of a condition.
_err() {
	trap - ERR
	fail "line $2: exit $1: ${3%%$'\n'*}"
}

# _run: what case-main calls, with the case file already sourced.
_run() {
	_main=$BASHPID
	declare -F "$ROLE" >/dev/null || { echo "no $ROLE()"; _verdict pass; return; }
	set -Eu -o pipefail
	trap '_err $? "$LINENO" "$BASH_COMMAND"' ERR
	trap '_verdict fail "$ROLE: left with exit $?"' EXIT
	"$ROLE"
	trap - ERR EXIT
	if [ "$(_failed)" = 0 ]; then _verdict pass; else _verdict fail "$ROLE: $(_failed) failed checks"; fi
}
