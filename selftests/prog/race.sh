# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Latches in the module's narrow windows (net/base/race.h): . "$PROG/race.sh". They hold
# threads that work for this host, 30 s at most, and are in the builds for um and umdbg.
#
#	latch NAME		closes it
#	held NAME [N]		N threads (1) wait there; for use with poll
#	holds NAME [N]		a subtest: they come to wait there
#	unlatch NAME		opens it
RACE=/sys/module/smcr/parameters/race

latch() { echo "$1" > $RACE; }
unlatch() { echo "-$1" > $RACE; }
held() { grep -qx "$1 ${2:-1}" $RACE; }
holds() { check "$ROLE: held at $1" eventually 20 held "$@"; }
