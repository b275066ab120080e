# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# poll() of a connection whose SMC-R handshake was declined: as on TCP.
#
# covers: CLC-64
# timeout: 180
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_declined_server; }
client() { api_declined_client poll.api; }
