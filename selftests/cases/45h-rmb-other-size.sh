# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm or Accept that names a live RMB of another connection, and another size
# of its elements than that connection has: a write there would end in the element of
# another one, or beyond the RMB, which ends the link with the connections of all.
# The new connection is refused, and the old one loses nothing.
#
# module: ours ours
# timeout: 60
# kernels: umdbg um 6.1 6.12
# tags: puppet clc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	ip addr add 10.77.0.101/24 dev eth0
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 mark:first \
		recv:5 send:5 recv:1=eof close
	app_end "server program: the first connection goes on"
	eq "the forger is known for it" "$(counter rkey-unknown)" 1

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		conn forger
		accept
		rx proposal
		tx accept first=0 bsize=5
		rx decline s=0 diag=0x06100000
		rx app len=5
		tx fin
		rx eof
		conn 1
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	ip addr add 10.77.0.102/24 dev eth0
	ip route add 10.77.0.101/32 dev eth0 src 10.77.0.102
	await up
	pup "a Confirm with another size" <<-E
		conn victim
		connect $PEER 5000
		first_contact
		tx data len=5
		await first
		conn forger
		connect 10.77.0.101 5000
		reuse until=confirm
		tx confirm bsize=5
		rx rst
		conn victim
		tx data len=5
		rx data len=5
		close
	E
	await up2
	app "an Accept with another size is declined" \
		socket "connect:$PEER:5001" send:5 slot:1 \
		socket "connect:$PEER:5001" send:5 recv:1=eof close \
		slot:0 recv:5 recv:1=eof close
	eq "with its reason" "$(counter rkey-unknown)" 1
}
