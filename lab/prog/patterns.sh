# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases with the programs of patterns.h. Sourced after case.sh.

# digest FILE: of the result in it. "" is not a digest.
digest() { sed -n 's/.*"digest": "\([0-9a-f]\{64\}\)".*/\1/p' "$1"; }

# step FILE: the median of a round's time
step() { sed -n 's/.*"step_ms": \([0-9][0-9.]*\),.*/\1/p' "$1"; }

# Of a server's output: workers may come.
up() { grep -qs listening "$1"; }

# into(), of a program that is to fail: which is no failure of the case
fails_into() { into "$@" || exit; }

# local_digest PATTERN OPTION...: what must come out, in $CASEDIR/PATTERN-local
local_digest() {
	"$LAB/prog/patterns_sock" "${@:2}" "$1" local > "$CASEDIR/$1-local"
	check "$1: a digest" test -n "$(digest "$CASEDIR/$1-local")"
}

# told DESC FILE: the time of a round is in it.
told() {
	check "$1: a round's time is told" test -n "$(step "$2")"
	echo "# $1: a round takes $(step "$2") ms"
}
