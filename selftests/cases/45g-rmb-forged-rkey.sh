# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm that names a link of another host, and an RMB that nobody has confirmed
# on that link: a write there would fail, and end the link with the connections of
# all. Whoever sends it loses his own connection, and nobody else loses anything. So
# does a server whose Accept names another server's link.
#
# covers: SEC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"

server() { forger_server rkey-unknown 0x06100000 rkey=0x1badbeef va=0x7f0000000000; }
client() { forger_client rkey-unknown rkey=0x1badbeef va=0x7f0000000000; }
