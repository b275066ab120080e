# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Urgent data as on TCP: MSG_OOB, SO_OOBINLINE, SIOCATMARK, SIGURG, POLLPRI, and the
# exceptional set of select(). IPv4; at random, too.
#
# covers: CDC-35 CDC-40 CDC-41 CDC-42
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

server() { api_server; }
client() { api_client "$API/urgent.api" 4; }
