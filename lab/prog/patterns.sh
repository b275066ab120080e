# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions of cases that run the programs of patterns.h. Sourced after case.sh.

# digest FILE: the digest of the result in FILE; "" if there is none
digest() { sed -n 's/.*"digest": "\([0-9a-f]\{64\}\)".*/\1/p' "$1"; }

# step FILE: median of the time of a round, ms
step() { sed -n 's/.*"step_ms": \([0-9][0-9.]*\),.*/\1/p' "$1"; }

# up FILE: the server with this output listens
up() { grep -qs listening "$1"; }

# As into(), for a program that is expected to fail: the case continues
fails_into() { into "$@" || exit; }

# local_digest PATTERN OPTION...: the expected result, in $CASEDIR/PATTERN-local
local_digest() {
	"$LAB/prog/patterns_sock" "${@:2}" "$1" local > "$CASEDIR/$1-local"
	check "$1: a digest" test -n "$(digest "$CASEDIR/$1-local")"
}

# told DESC FILE: FILE has the time of a round
told() {
	check "$1: a round's time is told" test -n "$(step "$2")"
	echo "# $1: a round takes $(step "$2") ms"
}
