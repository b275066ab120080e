# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The puppet peer against itself. If this fails, no result of a case with the puppet is valid.
#
# module: none
# timeout: 60
# needs: synopt
# tags: puppet lab
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-'E'
		listen 5000
		accept
		opt
		first_contact
		rx data "hello"
		tx data len=40000
		rx data len=100000 consume
		wait cdc has=C
		close
		conn 2
		accept
		reuse
		rx data len=100
		tx app "stray"
		close
		conn 3
		accept opt=0
		opt 0
		rx app "plain"
		tx app "tcp"
		rx eof
	E
	poll 10 listening 5000
	mark ready
	pup_end "server"
}

client() {
	await ready
	pup "client" <<-E
		connect $PEER 5000
		opt
		first_contact
		tx data "hello"
		rx data len=40000 consume
		tx data len=100000
		close
		conn 2
		connect $PEER 5000
		reuse
		tx data len=100
		rx app "stray"
		wait cdc has=C
		tx cdc flags=C
		tx fin
		rx eof
		conn 3
		connect $PEER 5000 opt=0
		opt 0
		tx app "plain"
		rx app "tcp"
		tx close
	E
}
