# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server with net.smcr.max_links=1 and a client with two RNICs. The server announces two
# links, the least that is allowed (LG-09). In first contact it has to offer a second link
# (LG-18), with a queue pair of its own; a client that accepts gets DELETE LINK instead of
# RTokens, and data wait for that (LG-25). Afterwards the server never offers again, neither
# after a time nor when the client announces another RNIC. A server with up to three links
# does not offer the third one to a client with up to two; and a client with up to three,
# which gains a third RNIC, does not announce it to a server with up to two, but to another
# one, with up to three.
#
# covers: LG-09 LG-11 LG-18 LG-19 LG-23 LG-25
# module: ours ours
# nics: 3/3
# timeout: 90
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# one for each group
two_qps() { [ "$(rdma resource show qp | grep -c 'comm \[smcr' || :)" = 2 ]; }

server() {
	check "more than eight links are not to be had" bash -c "! echo 9 2>/dev/null > /proc/sys/net/smcr/max_links"
	fast max_links=1 t_link_retry=1000
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 accept:0 recv:5 send:5 recv:1=eof close
	await refused 40
	check "the queue pairs that were offered are gone" eventually 5 two_qps
	# before TEST LINK finds that the first puppet has gone
	eq "links that failed" "$(counter link-down)" 0
	mark looked
	app_end "server program"
	eq "link groups" "$(counter lgr-created)" 2
	fast max_links=3
	app_bg limit:40 socket listen:5001 mark:up2 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program, three links"

	pup_bg <<-E
		$(links 2)
		set max_links=2
		listen 5002
		mark up3
		accept
		first_contact until=add_link
		add_link 2
		rx data len=5
		set peer_id=0003525400000001 max_links=3
		conn 2
		link 3
		nic $(rnic 0)
		link 4 of 3
		nic $(rnic 1)
		link 3
		accept
		first_contact until=add_link
		add_link 4
		rx data len=5
		mark two
		rx llc add_link reply=0 rejected=0 qpn=0 link=0 psn=0 20s
		rx none 2s link
		tx data len=5
		close
		conn 1
		tx data len=5
		close
		check offences 0
	E
	pup_end "servers with up to two links, and with up to three"
}

client() {
	await up
	pup "a client that can have a second link" <<-E
		link 1
		link 2 of 1
		nic $(rnic 1)
		link 1
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0 rejected=0 about=2 qpn!=%{1:peer_qpn}
		on 2 qp create
		tx llc add_link reply=1 about=2
		rx llc delete_link reply=0 all=0 link=2
		rx none 300ms
		tx llc delete_link reply=1 link=2
		on 2 qp destroy
		accepted
		# by its timer it would offer once more, and then twice
		rx none 4s link
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		rx none 500ms link
		tx data len=5
		rx data len=5
		close
		check offences 0
		on 1 qp destroy
	E
	pup "one that refuses it" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact
		accepted
		mark refused
		await looked
		rx none 3s link
		tx llc add_link qpn=0 link=0 psn=0
		rx none 500ms link
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
	await up2
	pup "one that wants fewer than the server" <<-E
		$(links 2)
		set peer_id=0003525400000002 max_links=2
		connect $PEER 5001
		first_contact until=add_link
		add_link 2
		accepted
		rx none 4s link
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		rx none 500ms link
		tx data len=5
		rx data len=5
		close
		check offences 0
	E

	rnic_delete 2
	fast max_links=3 t_link_retry=3600000
	await up3
	app_bg limit:40 slot:1 socket "connect:$PEER:5002" send:5 slot:2 socket "connect:$PEER:5002" send:5 \
		recv:5 recv:1=eof close slot:1 recv:5 recv:1=eof close
	await two
	rnic_add 2
	app_end "client program"
	eq "link groups of the client" "$(counter lgr-created)" 2
}
