# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server that answers a client in a VLAN with a group that it has formed with that client
# outside of it: the client declines, as it has no such group in the VLAN, and goes on with
# TCP. The group stays.
#
# covers: LG-16 SEC-01
# module: none ours
# timeout: 30
# needs: synopt
# tags: puppet lgr sec
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

vlan() {
	modprobe 8021q || skip "no VLANs"
	ip link add link eth0 name eth0.10 type vlan id 10
	ip addr add "10.99.0.$ID/24" dev eth0.10
	ip link set eth0.10 up
}

server() {
	vlan
	pup_bg <<-'E'
		listen 5000
		mark up
		conn 1
		accept
		first_contact
		rx data len=5
		conn 2
		accept
		rx proposal
		tx accept first=0
		rx decline s=1 diag=0x04000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		conn 1
		tx data len=5
		close
	E
	pup_end "puppet as server"
	ip link delete eth0.10
}

client() {
	vlan
	await up
	app "the VLAN has no group" socket "connect:$PEER:5000" send:5 \
		slot:1 socket "connect:10.99.0.$PEER_ID:5000" send:5 recv:5 recv:1=eof close \
		slot:0 recv:5 recv:1=eof close
	ip link delete eth0.10
}
