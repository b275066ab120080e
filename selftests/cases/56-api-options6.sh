# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Socket options as on TCP, IPv6.
#
# covers: MISC-05 MISC-06 MISC-11
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/options.api" 6; }
