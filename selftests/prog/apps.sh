# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases with unmodified programs, started through the preload library.
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# over PROG ARG...: over SMC-R
over() { "$SMCCTL" run -- "$@"; }

need() {
	local p
	for p; do command -v "$p" > /dev/null || skip "there is no $p"; done
	[ -x "$SMCCTL" ] && [ -e "${SMCCTL%/*}/libsmcr-preload.so" ] || skip "smcctl is not built"
}

# A place of this guest's own that is not shared
APPDIR=/tmp/app
mkdir -p $APPDIR
