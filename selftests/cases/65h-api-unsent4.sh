# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TCP_USER_TIMEOUT and TCP_NOTSENT_LOWAT, when the peer does not read, as on TCP.
#
# covers: MISC-06
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/unsent.api" 4; }
