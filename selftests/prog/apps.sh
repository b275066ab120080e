# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases with unmodified programs, started through the preload library.
#
# A case does the same over TCP and over SMC-R, with the same programs and the
# same checks: what fails over SMC-R only is a bug of this project. $VIA is the
# one that is tested: smc or tcp.
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
VIA=smc

# via PORT: the port of this service for $VIA.
via() { if [ "$VIA" = smc ]; then echo "$1"; else echo "$(($1 + 10000))"; fi; }

# over PROG ARG...: over $VIA.
over() { if [ "$VIA" = smc ]; then "$SMCCTL" run -- "$@"; else "$@"; fi; }

# serve PROG ARG...: over $VIA in the background. $BG is the program itself and
# not a shell around it, so that signals to $BG reach it.
serve() { if [ "$VIA" = smc ]; then bg "$SMCCTL" run -- "$@"; else bg "$@"; fi; }

# both FUNCTION: with each $VIA.
both() { for VIA in tcp smc; do "$@"; done; }

# try DESC CMD...: check, for $VIA; the case goes on.
try() { check "$VIA: $1" "${@:2}"; }
same() { eq "$VIA: $1" "$2" "$3"; }

need() {
	local p
	for p; do command -v "$p" > /dev/null || skip "there is no $p"; done
	[ -x "$SMCCTL" ] && [ -e "${SMCCTL%/*}/libsmcr-preload.so" ] || skip "smcctl is not built"
}

# A folder that the other guest does not see; the case before may have left files
# there
APPDIR=/tmp/app
[ "$ROLE" = host ] || { rm -rf $APPDIR && mkdir -p $APPDIR; }
