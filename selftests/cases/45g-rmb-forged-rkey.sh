# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm names a link of another host, and an RMB that is not confirmed on that link: a
# write there would fail, and with it the link and all its connections. The sender loses
# its own connection, and no other one is affected. The same for a server whose Accept
# names another server's link.
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
