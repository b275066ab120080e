# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every LLC request has one reply, or none where the rules require that. Messages of other
# exchanges may come in the middle of one: TEST LINK is answered at once, a client's
# notices wait or are ignored, DELETE LINK of the group takes effect at once.
#
# covers: LLC-03 LLC-16
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# one_each: one request of each kind on a settled link, its replies, and silence.
one_each() {
	cat <<-E
		tx llc test_link data=000102030405060708090a0b0c0d0e0f
		rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=0
		tx llc delete_rkey n=1 rkey1=0x11223344
		rx llc delete_rkey reply=1 negative=0
		tx llc delete_link link=77
		rx llc delete_link reply=1 link=77 reason=0x100000
		$1
		rx none 300ms link
	E
}

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:1=ECONNRESET close
	app_end "server program"

	pup_bg < <(
		echo "listen 5001"
		echo "mark up2"
		echo "accept"
		echo "first_contact"
		echo "rx data len=5"
		one_each "$(printf '%s\n' 'tx llc add_link link=7' 'rx llc add_link reply=1 rejected=1 link=7')"
		cat <<-E
			tx data len=5
			close
			qp destroy
			# the end of the group, before the client has its connection
			conn 2
			accept
			first_contact until=add_link
			tx llc delete_link all=1 reason=0x20000 expect=gone
			rx rst
			rx down
		E
	)
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" < <(
		cat <<-E
			connect $PEER 5000
			first_contact until=confirm_link_reply
			# the server waits for a reply
			tx llc add_link reply=0 qpn=0 link=0 psn=0
			tx llc test_link data=000102030405060708090a0b0c0d0e0f
			rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f
			tx llc confirm_link reply=1
			rx llc add_link reply=0
			tx llc add_link reply=0 qpn=0 link=0 psn=0
			tx llc test_link data=101112131415161718191a1b1c1d1e1f
			rx llc test_link reply=1 data=101112131415161718191a1b1c1d1e1f
			tx llc add_link reply=1
			tx data len=5
			rx data len=5
		E
		# a group without redundancy: the server tries again (LG-32)
		one_each "$(printf '%s\n' 'tx llc add_link reply=0 qpn=0 link=0 psn=0' 'rx llc add_link reply=0' 'tx llc add_link reply=1')"
		cat <<-E
			close
			qp destroy
			# a notice that the only link is to be deleted: handled after the
			# exchange
			set peer_id=0002525400000002
			conn 2
			connect $PEER 5000
			first_contact until=confirm_link_reply
			tx llc delete_link link=%link_num
			rx none 200ms
			tx llc confirm_link reply=1
			rx llc add_link reply=0
			tx llc add_link reply=1
			rx llc delete_link reply=0
			rx rst
			rx down
		E
	)
	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001=ECONNRESET" close
}
