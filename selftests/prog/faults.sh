# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which allocations of one part of the module fail, and no others:
# . "$PROG/faults.sh" (umdbg: fault injection with a stack trace filter)
#
#	faulty KIND REGEX	chooses allocations of KIND (failslab or
#				fail_page_alloc) below the functions of the module
#				that match REGEX, and below all functions between
#				them: match functions of one source file only
#	spare KIND FUNCTION	excludes those below that function of the kernel
#	refuse KIND TIMES	the next TIMES of them fail; -1 all, 0 none
FAULTS=/sys/kernel/debug

# next_function ADDRESS GREP...: address of the function behind the one at ADDRESS,
# among the lines of kallsyms that grep finds
next_function() {
	grep "${@:2}" /proc/kallsyms | cut -d' ' -f1 | sort -u | grep -A1 "^$1" | tail -n 1
}

faulty() {
	local f=$FAULTS/$1 lo hi
	[ -e "$f/require-start" ] || skip "no stack trace filter for $1"
	lo=$(grep -E " [tT] $2[[:space:]]+\[smcr\]" /proc/kallsyms | cut -d' ' -f1 | sort)
	[ -n "$lo" ] || fail "no function $2"
	hi=$(tail -n 1 <<< "$lo") lo=$(head -n 1 <<< "$lo")
	hi=$(next_function "$hi" '\[smcr\]')
	echo 0 > "$f/probability"
	echo "0x$lo" > "$f/require-start"
	echo "0x$hi" > "$f/require-end"
	echo 32 > "$f/stacktrace-depth"
	echo 0 > "$f/reject-start"
	echo 0 > "$f/reject-end"
	[ ! -e "$f/min-order" ] || echo 0 > "$f/min-order"
	[ ! -e "$f/ignore-gfp-wait" ] || echo N > "$f/ignore-gfp-wait"
	echo N > "$f/task-filter"
	echo 0 > "$f/verbose"
	echo 1 > "$f/interval"
	echo 0 > "$f/space"
	echo "$1: from 0x$lo to 0x$hi"
}

spare() {
	local f=$FAULTS/$1 lo hi
	lo=$(grep -E " [tT] $2\$" /proc/kallsyms | cut -d' ' -f1)
	[ -n "$lo" ] || fail "no function $2"
	hi=$(next_function "$lo" -v '\[')
	echo "0x$lo" > "$f/reject-start"
	echo "0x$hi" > "$f/reject-end"
}

refuse() {
	local f=$FAULTS/$1 p=100
	[ "$2" != 0 ] || p=0
	echo "$2" > "$f/times"
	echo $p > "$f/probability"
}
