# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Socket options of a connection whose SMC-R handshake was declined: those of TCP.
#
# covers: CLC-64
# timeout: 180
# lanes: uml qemu
# tags: api fallback
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_declined_server; }
client() { api_declined_client options.api; }
