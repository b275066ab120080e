# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One end has one RNIC, so the second link is asymmetric. It does not count, so the server
# goes on offering links, and there is never a second asymmetric one. When another RNIC
# comes a symmetric link is added, then the asymmetric one is deleted with that reason,
# and its connection goes on. The module as server, and as client, which answers with the
# RNIC of its choice (RFC 7609 3.5.1.6.1). A server without another RNIC offers that of the
# asymmetric link when the client has another one.
#
# covers: FO-18 LG-12 LG-20 LG-21 LG-33 LLC-48 LG-35
# module: ours ours
# nics: 3/2
# timeout: 90
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# The client's cards, as ADD LINK names them
MAC0=525400000002 MAC1=525400000102

qps() { [ "$(rdma resource show qp | grep -c 'comm \[smcr' || :)" = "$1" ]; }

server() {
	# t_llc: a link is drained for t_llc / 8 at most
	fast max_links=2 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000 t_llc=20000
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 send:5 recv:7 send:7 recv:1=eof close slot:1 send:5 recv:1=eof close
	await moved
	check "the link to be deleted has its queue pair until the reply" eventually 5 qps 3
	mark kept
	app_end "server program"
	eq "connections that moved" "$(counter conn-moved)" 1
	fast t_llc=4000
	rnic_delete 2
	app_bg limit:20 socket listen:5002 mark:up3 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program, two cards"
	rnic_add 2

	pup_bg <<-E
		$(links 3 3)
		listen 5001
		mark up2
		accept
		# an offer over the server's same card is refused: the client has one card
		first_contact
		rx data len=5
		# an offer over another card is accepted over the client's only one
		on 2 qp create
		tx llc add_link about=2
		rx llc add_link reply=1 rejected=0 about=2 mac=$MAC0
		add_link 2 from=rts
		# that once only
		on 3 qp create
		tx llc add_link about=3
		rx llc add_link reply=1 rejected=1 reason=1
		mark one
		rx llc add_link reply=0 rejected=0 qpn=0 link=0 psn=0 mac=$MAC1 20s
		tx llc add_link about=3
		wait llc add_link reply=1 rejected=0 about=3 mac=$MAC1
		add_link 3 from=rts
		tx llc delete_link about=2 orderly=1 reason=0x50000
		wait llc delete_link reply=1 about=2
		on 2 qp destroy
		tx data len=5
		close
		check offences 0
		# the server's same card, with another one of the client's
		set peer_id=0002525400000001
		link a
		nic $(rnic 0)
		link b of a
		nic $(rnic 0)
		conn a
		link a
		accept
		first_contact until=add_link
		on b qp create
		tx llc add_link about=b
		rx llc add_link reply=1 rejected=0 about=b mac=$MAC1
		add_link b from=rts
		rx data len=5
		tx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		$(links 3 1)
		link 4 of 1
		nic $(rnic 1)
		link 1
		connect $PEER 5000
		first_contact until=add_link
		add_link 2
		accepted
		tx data len=5
		taken
		# there may be a second symmetric link, but no second asymmetric one
		rx llc add_link reply=0 rejected=0 about=3
		on 3 qp create
		tx llc add_link reply=1 about=3
		rx llc delete_link reply=0 all=0 orderly=0 about=3 reason=0x40000
		tx llc delete_link reply=1 about=3
		on 3 qp destroy
		conn 2
		connect $PEER 5000
		reuse until=confirm
		link 2
		tx confirm
		accepted
		tx data len=5
		rx data len=5
		check rx_link 2
		# the client has another card
		conn 1
		tx llc add_link gid=%{4:gid} mac=%{4:mac} qpn=0 link=0 psn=0
		add_link 4
		rx llc delete_link reply=0 all=0 orderly=1 about=2 reason=0x50000
		conn 2
		wait cdc has=F
		check rx_link 4
		move 4
		mark moved
		await kept
		on 1 tx llc delete_link reply=1 about=2
		on 2 qp destroy
		tx data len=7
		rx data len=7
		close
		conn 1
		rx data len=5
		close
		check offences 0
	E
	await up3
	pup "a server with two cards" <<-E
		link 2 of 1
		nic $(rnic 0)
		link 3 of 1
		nic $(rnic 1)
		link 1
		set peer_id=0003525400000002
		connect $PEER 5002
		first_contact until=add_link
		add_link 2
		accepted
		rx none 300ms link
		tx llc add_link gid=%{3:gid} mac=%{3:mac} qpn=0 link=0 psn=0
		add_link 3
		rx llc delete_link reply=0 all=0 orderly=1 about=2 reason=0x50000
		tx llc delete_link reply=1 about=2
		on 2 qp destroy
		tx data len=5
		rx data len=5
		close
		check offences 0
	E

	rnic_delete 1
	fast max_links=2 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	await up2
	app_bg limit:40 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	await one
	rnic_add 1
	app_end "client program"
}
