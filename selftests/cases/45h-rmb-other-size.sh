# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm or Accept that names a live RMB of another connection, and another size
# of its elements than that connection has: a write there would end in the element of
# another one, or beyond the RMB, which ends the link with the connections of all.
# The new connection is refused, and the old one loses nothing.
#
# covers: SEC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"

server() { forger_server rkey-unknown 0x06100000 bsize=5; }
client() { forger_client rkey-unknown bsize=5; }
