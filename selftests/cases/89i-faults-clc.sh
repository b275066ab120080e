# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A relay between two puppets applies faults to their CLC messages: they are lost, come
# twice, late, changed or cut short, or both connections are reset. Without a fault the
# messages, the SYN option, all that follows and the end come through.
#
# module: none
# nics: 1/1
# timeout: 60
# needs: synopt
# tags: puppet lab
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# turn NAME [FAULT...]: the server's puppet on port 6000, behind the relay's 5000 + N
n=0
turn() {
	n=$((n + 1))
	pup_bg
	poll 10 listening $((6000 + n))
	clc_relay $((5000 + n)) $((6000 + n)) "${@:2}"
	mark "up$n"
	pup_end "$1"
}
meet() {
	n=$((n + 1))
	await "up$n"
	pup "$1"
}

server() {
	turn "nothing" <<-E
		listen 6001
		accept
		opt
		first_contact
		rx data "hello"
		tx app "over tcp"
		rx app "too"
		close
	E
	check "the messages were seen" grep -q '^confirm of ' "$CASEDIR/relay.5001"
	turn "a proposal is lost" proposal:1:drop <<-E
		listen 6002
		accept
		rx decline
		rx eof
	E
	turn "an accept comes twice, the second confirm is late" accept:1:twice confirm:2:delay:400 <<-E
		listen 6003
		accept
		rx proposal
		qp create
		tx accept
		rx confirm
		conn 2
		link 2
		accept
		rx proposal
		qp create
		tx accept
		start
		rx confirm
		elapsed 380ms 600ms
	E
	turn "a confirm is changed" confirm:1:corrupt:40 <<-E
		listen 6004
		accept
		rx proposal
		qp create
		tx accept
		rx confirm qpn=0x1234a9 rkey=0x11223344
	E
	turn "a proposal is cut short" any:1:short:4 <<-E
		listen 6005
		accept
		rx app "$(printf '\xe2\xd4\xc3\xd9')tail"
	E
	turn "reset in place of the accept" accept:1:reset <<-E
		listen 6006
		accept
		rx proposal
		qp create
		tx accept
		rx rst
	E
	turn "no option" <<-E
		listen 6007
		accept opt=0
		opt 0
		rx app "plain"
		rx eof
	E
	clc_relay_end
}

client() {
	meet "nothing" <<-E
		connect $RELAY 5001
		opt
		first_contact
		tx data "hello"
		rx app "over tcp"
		tx app "too"
		close
	E
	meet "a proposal is lost" <<-E
		connect $RELAY 5002
		tx proposal
		rx none 300ms
		tx decline
		tx fin
	E
	meet "an accept comes twice, the second confirm is late" <<-E
		connect $RELAY 5003
		tx proposal
		rx accept
		rx accept
		qp create
		tx confirm
		conn 2
		link 2
		connect $RELAY 5003
		tx proposal
		rx accept
		qp create
		tx confirm
		sleep 600ms
	E
	meet "a confirm is changed" <<-E
		connect $RELAY 5004
		tx proposal
		rx accept
		qp create
		tx confirm qpn=0x123456 rkey=0x11223344
		sleep 200ms
	E
	meet "a proposal is cut short" <<-E
		connect $RELAY 5005
		tx proposal
		tx app "tail"
		sleep 100ms
	E
	meet "reset in place of the accept" <<-E
		connect $RELAY 5006
		tx proposal
		rx rst
	E
	meet "no option" <<-E
		connect $RELAY 5007 opt=0
		opt 0
		tx app "plain"
		tx fin
	E
}
