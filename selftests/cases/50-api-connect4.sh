# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# connect, accept, listen and bind as on TCP, IPv4.
#
# covers: MISC-01 MISC-02 CONN-38
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/connect.api" 4; }
