# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The puppet peer with several links against itself: the flows of RFC 7609's link groups
# as in the conformance catalogue (F.2, F.4, F.5, F.6, F.7, F.10), links over one RNIC and
# over several, and the offences of a peer that it has to report.
#
# module: none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs, and again as a new RMB
# tags: puppet lab
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# errors_server, errors_client: the server's puppet reports the offences of the client's
errors_server() {
	pup_bg <<-E
		$(links 5)
		listen 5001
		accept
		first_contact until=add_link
		add_link 2
		rx data len=10
		set strict=0
		mark s0
		print to another link without F
		await e1
		check offences 1
		mark s1
		print F beyond what came
		await e2
		check offences 1
		mark s2
		print again what was said to have come
		await e3
		check offences 1
		mark s3
		print CONFIRM RKEY without link 2
		await e4
		check offences 1
		mark s4
		print CONFIRM RKEY with a link that there is not
		await e5
		check offences 2
		mark s5
		print an unknown RKey in ADD LINK CONTINUATION
		add_link 3
		check offences 1
		mark e6
	E
	poll 10 listening 5001
	mark ready.errors
	pup_end "server, errors"
}
errors_client() {
	await ready.errors
	pup "client, errors" <<-E
		$(links 5)
		connect $PEER 5001
		first_contact until=add_link
		add_link 2
		tx data len=10
		await s0
		link 2
		tx cdc
		mark e1
		await s1
		link 1
		tx cdc flags=F seq=+5
		mark e2
		await s2
		tx cdc flags=F seq=%tx_ss
		tx cdc seq=%tx_ss
		mark e3
		await s3
		tx llc confirm_rkey n=0 link1=0 rkey1=0 va1=0
		rx llc confirm_rkey reply=1
		mark e4
		await s4
		tx llc confirm_rkey link1=77
		rx llc confirm_rkey reply=1
		mark e5
		await s5
		add_link 3 until=cont_reply
		tx llc add_link_cont reply=1 about=3 ref1=^1
		add_link 3 from=confirm_link
		await e6
	E
}

# many_server, many_client: five links, so that CONFIRM RKEY has a CONTINUATION; data over each
many_server() {
	pup_bg <<-E
		$(links 5)
		set max_links=8
		listen 5002
		accept
		first_contact until=add_link
		add_link 2
		on 2 add_link 3
		on 3 add_link 4
		add_link 5
		rx data len=50
		check offences 0
		mark many
		close
	E
	poll 10 listening 5002
	mark ready.many
	pup_end "server, five links"
}
many_client() {
	await ready.many
	pup "client, five links" <<-E
		$(links 5)
		set max_links=8
		connect $PEER 5002
		first_contact until=add_link
		add_link 2
		on 2 add_link 3
		on 3 add_link 4
		add_link 5
		rmb
		on 4 tx llc confirm_rkey
		on 4 rx llc confirm_rkey reply=1 n=4
		on 4 tx llc confirm_rkey_cont
		on 4 rx llc confirm_rkey_cont reply=1 n=2
		tx data len=10
		move 2
		tx data len=10
		move 3
		tx data len=10
		move 4
		tx data len=10
		move 5
		tx data len=10
		await many
		close
	E
}

server() {
	pup_bg <<-E
		$(links 5)
		listen 5000
		accept
		# F.2: two RNICs on both sides
		first_contact until=add_link
		add_link 2
		rx data len=1000
		tx data len=1000
		wait cdc cons=1000
		# F.4, the server's part; what it sends goes over the other link
		conn 2
		accept
		link 2
		reuse
		rx data len=500
		check rx_link 1
		tx data len=500
		mark two
		# F.10: link 1 fails with data under way in both directions
		conn 1
		await broken
		tx cdc advance=100 expect=err
		tx cdc advance=50 expect=err
		move 2
		again 150
		tx cdc
		tx data len=30
		mark moved
		wait cdc has=F
		check rx_link 2
		rx data len=120
		conn 2
		wait cdc has=F
		# F.6
		rx llc delete_link reply=0 about=1 reason=0x10000 orderly=0
		delete_link 1
		# a link in its place has another number
		add_link 3
		# F.5, with everything moved before
		conn 1
		move 3
		conn 2
		move 3
		mark deleting
		delete_link 2
		conn 1
		wait cdc has=F
		check rx_link 3
		rx data len=10
		conn 2
		wait cdc has=F
		# a client's notice, and more links, of which two are over one RNIC
		rx llc add_link reply=0 qpn=0 link=0 psn=0
		add_link 4
		on 4 add_link 5
		# CONFIRM RKEY of three links; LLC messages use any
		rmb
		on 5 tx llc confirm_rkey
		on 5 rx llc confirm_rkey reply=1 n=2
		on 4 tx llc test_link
		on 4 rx llc test_link reply=1
		check offences 0
		# F.7
		on 4 tx llc delete_link all=1 link=0
	E
	poll 10 listening 5000
	mark ready
	pup_end "server"
	errors_server
	many_server
}

client() {
	await ready
	pup "client" <<-E
		$(links 5)
		connect $PEER 5000
		first_contact until=add_link
		add_link 2
		tx data len=1000
		rx data len=1000
		consume 1000
		conn 2
		connect $PEER 5000
		reuse until=confirm
		# F.4: a new RMB is announced before Confirm, with its keys of both links
		rmb
		tx llc confirm_rkey link1=%{1:link_num}
		rx llc confirm_rkey reply=1 negative=0 n=1
		tx confirm
		link 1
		tx data len=500
		await two
		rx data len=500
		check rx_link 2
		conn 1
		qp err
		mark broken
		tx cdc advance=100 expect=err
		await moved
		wait cdc has=F
		check rx_link 2
		rx data len=180
		# then the data again, and the CDC with its old number
		move 2
		again 100
		tx cdc seq=%seq
		tx data len=20
		conn 2
		move 2
		tx llc delete_link about=1 reason=0x10000
		delete_link 1
		add_link 3
		await deleting
		# over any link, not only the one that it names
		on 3 rx llc delete_link reply=0 about=2
		conn 1
		wait cdc has=F
		move 3
		tx data len=10
		conn 2
		wait cdc has=F
		move 3
		tx llc delete_link reply=1 about=2
		on 2 qp destroy
		tx llc add_link gid=%{4:gid} mac=%{4:mac} qpn=0 link=0 psn=0
		add_link 4
		on 4 add_link 5
		on 4 rx llc delete_link all=1 link=0
		check offences 0
	E
	errors_client
	many_client
}
