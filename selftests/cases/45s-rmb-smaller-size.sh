# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# All elements of an RMB have one size. A Confirm or Accept that names a live RMB of another connection,
# and smaller elements than that connection has, is refused: a write there would end in the middle of an
# element of that RMB, which may be in use.
#
# covers: RMB-01 SEC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"

FORGER_SET="bsize=2"
server() { forger_server rkey-unknown 0x06100000 bsize=1; }
client() { forger_client rkey-unknown bsize=1; }
