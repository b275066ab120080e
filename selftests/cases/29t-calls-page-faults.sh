# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred threads of one program, more than there ever were workers, hang in a page
# fault that is never answered, each in a call on an SMC-R connection of its own:
# receiving and sending, an urgent byte, a control message, an option. Another listener,
# an existing connection and a new one to another host take their usual time.
#
# timeout: 170
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"
# shellcheck source=selftests/prog/stuck_many.sh
. "$PROG/stuck_many.sh"

KINDS=(recv send conn-linger conn-oob conn-inq)

server() { stuck_many_server; }
client() { stuck_many_client; }
