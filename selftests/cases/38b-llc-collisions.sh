# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Inside of ADD LINK and of the server's DELETE LINK (it withdraws a second link): TEST
# LINK is answered, a notice is ignored, a client's DELETE LINK is deferred, the deletion
# of the group takes effect. While the second link is not settled neither connect() nor
# poll() reports the connection.
#
# covers: CLC-01 CLC-65 CONN-02 LLC-16 LLC-75 LLC-78 LLC-81
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "accept() returned only the good one"
	app_bg limit:40 socket listen:5002 mark:up1 await:ended close
	app_end "a listener that nobody calls accept() for"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact until=add_link
		rx none 500ms
		tx llc add_link
		rx llc add_link reply=1 rejected=1
		rx data len=5
		tx data len=5
		close
		qp destroy
		# the same with a poller
		conn 2
		accept
		first_contact until=add_link
		rx none 500ms
		tx llc add_link
		rx llc add_link reply=1 rejected=1
		rx data len=5
		tx data len=5
		close
		qp destroy
		# the end of the group inside of the client's first contact
		conn 3
		accept
		first_contact until=add_link
		tx llc delete_link all=1 reason=0x20000 expect=any
		rx rst 2s
		rx down
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5
		rx llc delete_link reply=0 all=0 link=2
		tx llc test_link data=000102030405060708090a0b0c0d0e0f
		rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
		tx llc delete_link all=1 reason=0x20000 expect=any
		rx rst 2s
		rx down
		qp destroy
		set peer_id=0002525400000002
		conn 2
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		qp destroy
	E
	await up1
	pup "the only link is to go before the second one is settled: afterwards" <<-E
		set peer_id=0003525400000002
		connect $PEER 5002
		first_contact until=add_link_reply
		tx llc add_link reply=0 qpn=0 link=0 psn=0
		tx llc delete_link
		rx none 300ms link
		tx llc add_link reply=1
		# with its only link the group ends (as in 36)
		rx llc delete_link reply=0 all=0 link=%link_num reason=0x10000
		tx llc delete_link reply=1 expect=any
		rx rst
		rx down
		mark ended
	E
	await up2
	app "connect() returns when everything is settled" start socket "connect:$PEER:5001" elapsed:450:3000 \
		send:5 recv:5 recv:1=eof close
	app "so does poll()" start socket nonblock "connect:$PEER:5001=EINPROGRESS" send:1=EAGAIN pollfor:OUT:5000 \
		elapsed:450:3000 block send:5 recv:5 recv:1=eof close
	app "the group ends" socket "connect:$PEER:5001=ECONNRESET" close
}
