# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Both sides have aborted a connection, but a thread in a page fault that is never
# answered keeps the module from releasing it. The peer may give its element to another
# connection, also to one over another address than that of the group.
#
# covers: RMB-24
# module: none ours
# timeout: 60
# needs: uml
# tags: puppet clc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"

server() {
	ip addr add 10.77.0.101/24 dev eth0
	pup_bg <<-'E'
		listen 6000
		mark up
		set index=3
		accept
		first_contact
		tx data len=100
		await hangs
		tx cdc flags=A
		rx cdc has=A
		mark over
		conn 2
		accept
		rx proposal
		tx accept first=0
		rx confirm
		tx data len=5
		rx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	stuck_begin
	pup_second_address
	await up
	stuck_hangs conn-recv
	mark hangs
	await over
	app "the element is given on" socket connect:10.77.0.101:6000 recv:5 send:5 recv:1=eof close
	eq "none is refused" "$(counter rmbe-in-use)" 0
	eq "SMC-R connections" "$(counter conn-created)" 2
	eq "threads that came back" "$(grep -c gave "$_stuck_log")" 0 || :
	kill "$STUCK"
	check "it can be killed" eventually 20 gone "$STUCK"
	stuck_end
}
