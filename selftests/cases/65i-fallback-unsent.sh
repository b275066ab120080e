# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP_USER_TIMEOUT and TCP_NOTSENT_LOWAT of connections whose SMC-R handshake was declined.
#
# covers: CLC-64 MISC-06
# timeout: 180
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_declined_server; }
client() { api_declined_client unsent.api; }
