# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sending and receiving over a connection whose SMC-R handshake was declined is as on TCP,
# in time, too: the last segment of a file that is shorter than sendfile() was asked for
# is not held back.
#
# covers: CLC-64
# timeout: 180
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_declined_server; }
client() { api_declined_client data.api; }
