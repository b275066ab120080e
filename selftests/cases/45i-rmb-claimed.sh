# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm or Accept from an address that did not form the group, and that names the
# element of a live connection: the element is not the sender's to give away. The new
# connection is refused, and the old one loses nothing. From the group's own address
# the same message gets the element (30).
#
# covers: SEC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"

server() { forger_server rmbe-in-use 0x06120000 index=3; }
client() { forger_client rmbe-in-use index=3; }
