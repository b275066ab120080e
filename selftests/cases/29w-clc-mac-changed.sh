# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The client's netdev gets another MAC address between its Proposal and the Accept, which
# answers the old one: the client declines, and the connection is plain TCP. It keeps no
# reference on the device, which can be removed at once.
#
# covers: CLC-55 MISC-20
# module: none ours
# timeout: 40
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-'E'
		listen 5000
		mark up
		accept
		rx proposal
		mark proposed
		await changed
		qp create
		tx accept first=1
		rx decline s=0 diag=0x06080000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
	E
	pup_end "puppet as server"
}

client() {
	local old
	await up
	bg "$PROG/sockcmd" limit:30 socket "connect:$PEER:5000" send:5 recv:5 recv:1=eof close
	await proposed
	old=$(</sys/class/net/eth0/address)
	# the neighbour entry of the peer does not change again within a second
	nap 1.2
	ip link set eth0 address 52:54:00:aa:00:0$ID
	ip neigh flush dev eth0
	check "the peer sees the new address" ping -c 1 -W 5 "$PEER"
	mark changed
	check "program" wait "$BG"
	eq "declined because the device has gone" "$(counter device-gone)" 1
	bg rnic_delete 0
	check "the device is removed" eventually 5 gone "$BG"
	ip link set eth0 address "$old"
	rnic_add 0
}
