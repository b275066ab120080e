# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thread hangs in a page fault that is never answered while connect() of its socket is under way,
# and has the lock of the socket: the handshake cannot end. The RDMA device is removed all the same, in
# its usual time, also when the handshake has come to its last step.
#
# covers: MISC-16
# timeout: 120
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"

server() {
	stuck_begin
	await ready.linger 30
	stuck_hangs linger
	await accepted 30
	stuck_remove linger 0
	stuck_over linger 0
	stuck_end
}

client() {
	bg "$PROG/sockcmd" limit:60 socket listen:6000 slot:1 accept:0 mark:accepted recv:1=any close
	poll 10 listening 6000
	mark ready.linger
	await over.linger 90
	wait "$BG" || :
}
