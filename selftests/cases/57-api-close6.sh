# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The ends of connections as on TCP, IPv6.
#
# covers: CONN-04
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/close.api" 6; }
