# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Socket options as on TCP, IPv4.
#
# covers: MISC-03 MISC-04 MISC-05 MISC-06 MISC-17
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/options.api" 4; }
