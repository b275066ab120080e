# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Contents of the module's CLC messages: the Proposal, whose form follows the address
# family, whose content does not depend on what the client has with the server, and for
# which nothing is allocated; the peer ID, a new one each time the module is loaded;
# initial PSNs and the MTU, which both sides use.
#
# covers: CLC-05 CLC-06 CLC-16 CLC-17 CLC-18 CLC-19 CLC-21 CLC-23 CLC-38 CLC-49
# nics: 2
# module: none none
# timeout: 90
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# refuse NAME PROPOSAL-FIELDS...: a handshake up to the Proposal
refuse() {
	local name=$1; shift
	cat <<-E
		conn $name
		accept
		rx proposal $*
		tx decline
		tx fin
		rx eof
		tx close
	E
}

server() {
	ip addr add 10.77.0.201/24 dev eth0
	ip addr add 10.77.0.202/24 dev eth0
	ip route add 10.78.16.0/20 dev eth0
	ip route add 10.79.7.0/25 dev eth0
	pup_bg < <(
		echo "listen 5000"
		echo "mark up"
		# 52 bytes; the length is in the header, the offset of the network is 0
		refuse v4 @4=01 @5=0034 @38=0000 n_prefix=0 net=0a4d0000 plen=24 @48=e2d4c3d9
		refuse mapped @5=0034 n_prefix=0 net=0a4d0000 plen=24
		refuse v4-20 @5=0034 n_prefix=0 net=0a4e1000 plen=20
		refuse v4-second @5=0034 n_prefix=0 net=0a4f0700 plen=25
		# the card of the route, although the address belongs to another one
		refuse v4-elsewhere n_prefix=0 net=0a4d0000 plen=24 mac=525400000002 gid!=00000000000000000000ffff0a4d0042
	)
	pup_end "puppet as server, IPv4"

	pup_bg < <(
		echo "listen 5001 v6"
		echo "mark up6"
		# between link-local addresses their prefix counts, too: that of the route comes first
		refuse link-local @5=0056 n_prefix=2 net=00000000 plen=0 prefix1=fe800000000000000000000000000000 plen1=64 \
			prefix2=fd770000000000000000000000000000 plen2=64 @82=e2d4c3d9
		refuse v6 @5=0045 n_prefix=1 net=00000000 plen=0 prefix1=fd770000000000000000000000000000 plen1=64 @65=e2d4c3d9
		refuse many @5=00bc n_prefix=8 net=00000000 plen=0 @184=e2d4c3d9
	)
	pup_end "puppet as server, IPv6"

	pup_bg <<-'E'
		listen 5002
		mark up2
		# no queue pair and no memory before an Accept has come
		conn 1
		accept
		rx proposal
		mark proposed
		await counted
		let id=%their_peer_id first=%proposal
		tx close
		# 1 KiB here, 4 KiB there: the smaller one is used, in both directions
		conn 2
		set mtu=3
		accept
		rx proposal @0=%first
		qp create
		tx accept first=1
		rx confirm peer_id=%id mtu=5
		let psn=%peer_psn
		qp rtr
		qp rts
		tx llc confirm_link
		rx llc confirm_link reply=1
		tx llc add_link
		rx llc add_link reply=1
		tx data len=20000
		rx data len=20000 consume
		# reuse: the same Proposal as to an unknown server; MTU and PSN have no
		# meaning then
		conn 3
		accept
		rx proposal @0=%first
		tx accept first=0 mtu=0 psn=0
		rx confirm peer_id=%id
		tx data len=20000
		rx data len=20000 consume
		close
		conn 2
		close
		link 2
		conn 4
		accept
		first_contact until=confirm
		# another queue pair starts elsewhere
		rx confirm peer_id=%id psn!=%psn
		tx decline
		tx fin
		rx eof
		mark first %id
		# the module has been loaded again
		conn 5
		accept
		rx proposal peer_id!=%id @10=52540000
		let id=%their_peer_id
		# a Decline has it, too
		tx accept first=0
		rx decline s=1 peer_id=%id
		tx fin
		rx eof
		# the card whose MAC is in the peer ID may go; GID and MAC are of the card in use
		conn 6
		accept
		rx proposal peer_id=%id gid=00000000000000000000ffff0a4d0102 mac=525400000102 net=0a4d0100
		tx decline
		tx fin
		rx eof
		conn 7
		accept
		rx proposal peer_id=%id gid=00000000000000000000ffff0a4d0002 mac=525400000002 net=0a4d0000
		tx decline
		tx fin
		rx eof
		# and the other way round: 4 KiB here, its card can do 1 KiB
		mark narrow
		conn 8
		link 8
		set mtu=5
		accept
		first_contact until=confirm
		rx confirm mtu=3
		qp rtr
		qp rts
		tx llc confirm_link
		rx llc confirm_link reply=1
		tx llc add_link
		rx llc add_link reply=1
		tx data len=20000
		rx data len=20000 consume
		close
	E
	pup_end "puppet as server, identity"
}

knows() { "$SMCCTL" device | grep -qw "$1"; }

# one ADDRESS PORT [FAMILY]: a connection that is declined
one() { app "$1" socket:"${3:-smc}" "connect:$1:$2" recv:1=eof close; }

client() {
	local i before
	load_smcr
	await up
	one "$PEER" 5000
	one "::ffff:$PEER" 5000 smc6
	# other masks: only this side's interface has them
	ip addr add 10.78.17.2/20 dev eth0
	# this subnet contains the next one, and is no connection's own
	ip addr add 10.79.0.9/16 dev eth0
	ip addr add 10.79.7.66/25 dev eth0
	ip addr add 10.79.7.67/25 dev eth0
	ip route add 10.77.0.201/32 dev eth0 src 10.78.17.2
	ip route add 10.77.0.202/32 dev eth0 src 10.79.7.67
	one 10.77.0.201 5000
	one 10.77.0.202 5000
	ip addr add 10.77.0.66/32 dev eth1
	app "the address of another card" socket bind:10.77.0.66:0 "connect:$PEER:5000" recv:1=eof close
	ip addr del 10.77.0.66/32 dev eth1

	await up6
	app "link-local" socket:smc6 set:BINDTODEVICE:eth0 connect:fe80::5054:ff:fe00:1:5001 recv:1=eof close
	# a single address is no prefix of the network
	ip -6 addr add fd89::2/128 dev eth0 nodad
	one "$PEER6" 5001 smc6
	for i in {1..9}; do ip addr add "fd88:$i::2/64" dev eth0 nodad; done
	one "$PEER6" 5001 smc6

	await up2
	before=$(rdma resource show qp | wc -l)/$(rdma resource show mr | wc -l)/$(rdma resource show cq | wc -l)
	app_bg socket nonblock "connect:$PEER:5002=EINPROGRESS" pollfor:ERR:20000=any close
	await proposed
	eq "a Proposal costs nothing" "$(rdma resource show qp | wc -l)/$(rdma resource show mr | wc -l)/$(rdma resource show cq | wc -l)" "$before"
	mark counted
	app_end "not answered"
	app "client program" slot:1 socket "connect:$PEER:5002" recv:20000 send:20000 \
		slot:2 socket "connect:$PEER:5002" recv:20000 send:20000 recv:1=eof close slot:1 recv:1=eof close
	one "$PEER" 5002
	await first
	unload_smcr
	load_smcr
	one "$PEER" 5002
	rnic_delete 0
	one "$(peer 1)" 5002
	rnic_add 0
	poll 10 knows "$(rnic 0)"
	rnic_delete 1
	one "$PEER" 5002
	rnic_add 1
	await narrow
	ip link set eth0 mtu 1500
	app "a smaller MTU here" socket "connect:$PEER:5002" recv:20000 send:20000 recv:1=eof close
	unload_smcr
}
