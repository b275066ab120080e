# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client can receive from the moment that its Confirm is sent. In first contact, data and the end of them
# come before the server's ADD LINK, which ends first contact, and no later message repeats them (3.5.2.4).
#
# covers: CLC-45
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-'E'
		listen 5000
		mark up
		# after CONFIRM LINK, which says whether elements have eye catchers
		accept
		first_contact until=add_link
		tx data hello
		tx cdc flags=D
		rx none 200ms
		first_contact from=add_link
		rx data len=5
		close
		# reuse: at once
		conn 2
		accept
		reuse
		tx data hello
		tx cdc flags=D
		rx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	await up
	app "first contact" socket "connect:$PEER:5000" recvtext:5=hello recv:1=eof send:5 close
	app "reuse" socket "connect:$PEER:5000" recvtext:5=hello recv:1=eof send:5 close
	eq "no CDC went astray" "$(counter cdc-token)" 0
}
