# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TEST LINK: answered at once with the same data, at any time, in both roles; sent on an
# idle link, also while an own exchange waits for its reply. A wrong, a missing and an
# unsolicited answer end the link.
#
# covers: LLC-70 LLC-71 LLC-72 LLC-73 LLC-03 LLC-16 KA-03 KA-04 KA-11
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_testlink=300 t_llc=1500
	app_bg limit:40 socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		accept:0 recv:5 close
	app_end "server program"
	# for reasons of their own, and not because the next TEST LINK is not answered; a
	# reason is counted for the link and for its connection
	eq "other data" "$(counter llc-test-data)" 2
	eq "an answer without a question" "$(counter llc-unexpected)" 2

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		# before CONFIRM LINK is answered the client cannot send, later it can
		first_contact until=add_link
		tx llc test_link data=00112233445566778899aabbccddeeff
		rx llc test_link reply=1 data=00112233445566778899aabbccddeeff
		tx llc add_link
		rx llc add_link reply=1 rejected=1
		tx llc test_link data=ffffffffffffffffffffffffffffffff @20=ffffffffffffffffffffffffffffffffffffffffffffffff
		rx llc test_link reply=1 data=ffffffffffffffffffffffffffffffff @20=000000000000000000000000000000000000000000000000
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "asked by the puppet" <<-E
		connect $PEER 5000
		first_contact until=confirm_link_reply
		# the server waits for the CONFIRM LINK reply
		tx llc test_link data=000102030405060708090a0b0c0d0e0f
		rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
		tx llc confirm_link reply=1
		rx llc add_link
		tx llc test_link data=101112131415161718191a1b1c1d1e1f
		rx llc test_link reply=1 data=101112131415161718191a1b1c1d1e1f 2s
		tx llc add_link reply=1
		tx llc test_link nowait
		tx llc test_link nowait
		tx llc test_link data=01000000000000000000000000000001 nowait
		rx llc test_link reply=1
		rx llc test_link reply=1
		rx llc test_link reply=1 data=01000000000000000000000000000001
		tx data len=5
		# the module's TEST LINK is answered by the puppet itself: the link is alive
		sleep 2s
		rx data len=5
		close
		qp destroy
	E
	pup "the server's ADD LINK waits for its reply" <<-E
		set peer_id=0006525400000002 auto_test=0
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		tx llc add_link reply=0 qpn=0 link=0 psn=0
		rx llc add_link reply=0
		rx llc test_link reply=0
		tx llc test_link reply=1
		set auto_test=1
		tx llc add_link reply=1
		close
	E
	pup "wrong answer" <<-E
		set peer_id=0002525400000002 auto_test=0
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		rx llc test_link reply=0 3s
		tx llc test_link reply=1 xor@19=01 expect=gone
		rx rst
		rx down
	E
	pup "no answer" <<-E
		set peer_id=0003525400000002 auto_test=0
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		rx llc test_link reply=0 3s
		start
		rx rst 5s
		elapsed 1300ms 5s
		rx down
	E
	pup "answer without a question" <<-E
		set peer_id=0004525400000002 auto_test=0
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		tx llc test_link reply=1 expect=gone
		rx rst
		rx down
	E
	# the server's close waits for a completion that does not come
	pup "talks but takes nothing" < <(
		cat <<-E
			set peer_id=0005525400000002 auto_test=0 rq=2 repost=0
			connect $PEER 5000
			first_contact
			tx data len=5
		E
		for _ in {1..30}; do
			echo "tx llc test_link nowait"
			echo "sleep 100ms"
		done
		# t_testlink and T_LLC, and as long again because the peer's messages arrive
		echo "rx rst 1s"
		echo "rx down"
	)
	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
