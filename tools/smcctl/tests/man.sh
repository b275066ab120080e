#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages: no complaint by mandoc, nothing undocumented.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"

if command -v mandoc > /dev/null; then
	for m in man/*.8; do
		run mandoc -Tlint -Wwarning "$m"
		ok "mandoc $m" both status 0 silent
	done
fi
run "$SMCCTL" --help
for word in $(grep -oE '(^  |, )--?[a-z]+' <<< "$out" | grep -oE '[a-z]{2,}$' | sort -u); do
	ok "--$word is documented" grep -q -- "-$word" man/smcctl.8
done
for word in $(sed -n '/^Objects/,/^$/s/^  \([a-z]*\) .*/\1/p' <<< "$out"); do
	ok "$word is documented" grep -q "Cm $word" man/smcctl.8
done
finish
