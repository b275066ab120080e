# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Helpers that the tests of smcctl source: KTAP output and the fake kernel.
# tests/fakekernel.so answers in place of the module, so that all of smcctl
# runs without it.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
SMCCTL=./smcctl
# Under valgrind when VALGRIND=1
CHECKER=()
[ -z "${VALGRIND:-}" ] || CHECKER=(valgrind -q --leak-check=full --error-exitcode=99)
n=0 bad=0 out='' err='' rc=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# run CMD...: status in $rc, output in $out and $err
run() {
	rc=0
	"$@" > "$tmp/out" 2> "$tmp/err" < /dev/null || rc=$?
	out=$(cat "$tmp/out") err=$(cat "$tmp/err")
}

# ctl ARG...: smcctl with the fake kernel, which answers as $FAKE demands
ctl() { run env LD_PRELOAD=./tests/fakekernel.so FAKE="${FAKE:-full}" "${CHECKER[@]}" "$SMCCTL" "$@"; }

# ok DESC CMD...: a test that passes when CMD succeeds
ok() {
	local desc=$1; shift
	n=$((n + 1))
	if "$@"; then
		echo "ok $n $desc"
	else
		bad=$((bad + 1))
		printf '# status %s\n' "$rc"
		printf '%s\n' "$out" "$err" | head -20 | sed 's/^/# /'
		echo "not ok $n $desc"
	fi
}

status() { [ "$rc" = "$1" ]; }
out_has() { [[ $out == *"$1"* ]]; }
err_has() { [[ $err == *"$1"* ]]; }
silent() { [ -z "$out" ]; }
json() { printf '%s' "$out" | python3 -m json.tool > /dev/null; }
# expr_of PYTHON: the expression is true for the JSON output, d
expr_of() { printf '%s' "$out" | python3 -c "import json, sys; d = json.load(sys.stdin); sys.exit(not ($1))"; }
both() { "$1" "$2" && "$3" "$4"; }

finish() {
	echo "1..$n"
	exit $((bad > 0))
}
