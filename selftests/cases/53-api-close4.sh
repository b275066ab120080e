# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The ends of connections as on TCP, IPv4.
#
# covers: CONN-04 CONN-05 CONN-06 CONN-08 CONN-13 CONN-19 CONN-20 CONN-23 CONN-27 CONN-36
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/close.api" 4; }
