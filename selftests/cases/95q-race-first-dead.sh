# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thread hangs in a page fault that is never answered while connect() of its socket is
# under way, and has the lock of the socket. In first contact the server offers an
# impossible link, which settles first contact, and at the same moment deletes the group,
# which is dead before it is active. The RDMA device is removed all the same, in its usual
# time.
#
# covers: MISC-16
# module: none ours
# timeout: 120
# needs: uml latch
# why: its times are tried on UML only, and an emulated processor takes four times as long
# tags: race puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	pup "settled and deleted" <<-E
		listen 6000
		mark ready
		accept
		first_contact until=add_link
		mark confirmed
		await closed
		tx llc add_link mtu=0 link=2 qpn=99
		tx llc delete_link all=1 reason=0x20000 expect=any
		mark said
		await over.dead
	E
}

client() {
	stuck_begin
	await ready
	stuck_hangs linger
	await confirmed
	latch llc-work
	mark closed
	await said
	holds llc-work
	unlatch llc-work
	nap 1
	stuck_remove dead 0
	stuck_over dead 0
	stuck_end
}
