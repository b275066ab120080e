# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ADD LINK with one network card on each side: refused as the rules require, and withdrawn
# when the client accepts what would be a parallel link; no data are sent before that is
# settled.
#
# covers: CLC-65 CONN-02 LG-08 LLC-03 LLC-28 LLC-29 LLC-31 LLC-35 LLC-48
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet llc lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 \
		accept:0 send:5 recv:5 recv:1=eof close \
		accept:0 send:5 recv:5 recv:1=eof close await:done
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact until=add_link
		# nothing may be sent before ADD LINK is answered
		rx none 500ms
		tx llc add_link mtu=0 link=5
		rx llc add_link reply=1 rejected=1 reason=2 link=5 @2=02 @3=c0 @29=0000 @31=05
		# later ones
		tx llc add_link mtu=6 link=6
		rx llc add_link reply=1 rejected=1 reason=2 link=6 @4=00000000000000000000000000000000000000000000000000
		tx llc add_link link=7
		rx llc add_link reply=1 rejected=1 reason=1 link=7 @4=00000000000000000000000000000000000000000000000000
		tx llc add_link link=255 @2=f0 @10=ffff @36=ffffffffffffffff
		rx llc add_link reply=1 rejected=1 reason=1 link=255
		rx data len=5
		tx data len=5
		close
		qp destroy
		# a peer by the RFC's text: eye catchers, and no two bytes of padding in
		# front of the GID
		set no_eye=0
		conn rfc
		accept
		first_contact until=add_link
		tx llc add_link link=5
		rx llc add_link reply=1 rejected=1 reason=1 link=5 @29=05 @31=00
		rx data len=5
		tx data len=5
		close
		qp destroy
		set no_eye=1
		# an offer without queue pair or number
		conn 2
		accept
		first_contact
		rx data len=5
		tx llc add_link @28=000000 expect=gone
		rx rst
		rx down
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact until=add_link_reply
		rx none 300ms
		# accepted over the same pair of cards: that would be a parallel link
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5
		rx llc delete_link reply=0 all=0 link=2
		rx none 300ms
		tx llc delete_link reply=1 link=2
		rx data len=5
		# a notice is not answered: an offer follows, whatever the notice
		# contains; another notice inside of that has no effect
		tx llc add_link reply=0 qpn=0 link=0 psn=0 mtu=0 gid=00000000000000000000000000000000 mac=000000000000
		rx llc add_link reply=0
		tx llc add_link reply=0 qpn=0 link=0 psn=0
		tx llc add_link reply=1
		rx none 300ms
		tx data len=5
		close
		qp destroy
		# refused for the other reason, and without the link's number
		set peer_id=0002525400000002
		conn 2
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=1 reason=2 link=0
		rx data len=5
		tx data len=5
		close
		qp destroy
		# another link number than the one that was offered
		set peer_id=0003525400000002
		conn 3
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5 link=9 expect=gone
		rx llc delete_link reply=0 all=1 link=0 orderly=0 reason=0x40000
		rx rst
		rx down
		qp destroy
		# accepted, with an MTU that does not exist
		set peer_id=0004525400000002
		conn 4
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=6 expect=gone
		rx rst
		rx down
		qp destroy
		# another link number in the reply to the withdrawal
		set peer_id=0005525400000002
		conn 5
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5
		rx llc delete_link reply=0 all=0 link=2
		tx llc delete_link reply=1 link=9 expect=gone
		rx rst
		rx down
		mark done
	E
	await up2
	app "client program" start socket "connect:$PEER:5001" elapsed:450:3000 send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:1=ECONNRESET close
}
