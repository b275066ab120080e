# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A forger sends a Proposal with the peer ID and MAC of another host, and then nothing.
# The host itself, from its own address, makes its first contact meanwhile without delay.
# First contacts of one peer from the same address wait for each other.
#
# covers: SEC-11
# module: ours none
# timeout: 40
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	ip addr add 10.77.0.101/24 dev eth0
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close slot:1 recv:1=eof close
	app_end "server program"
}

client() {
	pup_second_address
	await up
	pup "half a first contact in another's name" <<-E
		set peer_id=0001525400000002
		conn forger
		connect 10.77.0.101 5000
		tx proposal
		rx accept first=1
		conn host
		link 2
		connect $PEER 5000
		start
		tx proposal
		rx accept first=1
		elapsed 0ms 2s
		first_contact from=qp
		tx data len=5
		rx data len=5
		# and further connections of the host join its group
		$(new second; done5)
		conn host
		close
		conn forger
		tx rst
	E
}
