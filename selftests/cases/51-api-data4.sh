# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sending and receiving as on TCP, IPv4; also what dup() and fork() do to the end.
#
# covers: MISC-01 CONN-17 CONN-37 MISC-08 CDC-20
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/data.api" 4; }
