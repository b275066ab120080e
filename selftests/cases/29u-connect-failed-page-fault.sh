# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thread hangs in a page fault that is never answered while connect() of its socket is under way,
# and has the lock of the socket. The server declines after the Confirm: the handshake has failed, but
# cannot end. The RDMA device is removed all the same, in its usual time. So it is if the connection
# would have joined a group.
#
# covers: MISC-16
# module: none ours
# timeout: 120
# needs: uml
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"

server() {
	pup "first contact fails" <<-E
		listen 6000
		mark ready.first
		accept
		first_contact until=confirm_link
		await hung.first
		tx decline
		mark declined.first
		await over.first
	E
	pup "joining fails" <<-E
		listen 6000
		mark ready.join
		accept
		first_contact
		conn 2
		accept
		rx proposal
		tx accept rkey=77
		await hung.join
		mark declined.join
		await over.join
	E
}

stuck_case() {
	stuck_hangs linger
	mark "hung.$1"
	await "declined.$1"
	nap 1
	stuck_remove "$1" 0
	stuck_over "$1" 0
}

client() {
	stuck_begin
	await ready.first
	stuck_case first
	await ready.join
	app_bg limit:60 socket "connect:$PEER:6000" mark:open await:over.join close
	await open
	stuck_case join
	app_end "the first connection"
	stuck_end
}
