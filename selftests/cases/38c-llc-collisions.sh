# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The rest of the collision matrix (Part E.1 of the catalogue) as far as a group
# of one link gets there: inside of the server's ADD LINK and of its DELETE LINK
# of a second link, and of a DELETE RKEY of the client's.
#
# covers: LLC-74 LLC-77 LLC-80 LLC-82 LLC-83 LLC-90
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "accept() returned only the good one"

	app_bg limit:40 socket listen:5002 mark:up1 await:ended close
	app_end "a listener that nobody calls accept() for"

	# the client withdraws an RMB, and gets another message before the answer
	pup_bg < <(
		echo "listen 5001"
		echo "mark up2"
		asked 1
		cat <<-E
			tx llc test_link data=000102030405060708090a0b0c0d0e0f
			rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=0 retry=0 2s
			tx llc delete_rkey n=1 rkey1=0x11223344
			rx llc delete_rkey reply=1 negative=0 mask=0 2s
			# an offer: refused at once
			tx llc add_link
			rx llc add_link reply=1 rejected=1 2s
			tx llc delete_rkey reply=1 rkey1=%rkey1
			rx data len=5
			tx data len=5
			close
			qp destroy
		E
		asked 2
		cat <<-E
			# the only link: the end, which needs no other answer first; its queue
			# pair may be gone before the ACK of this has come
			tx llc delete_link reason=0x10000 orderly=1 expect=any
			rx llc delete_link reply=1 2s
			rx rst
			rx down
			qp destroy
		E
		asked 3
		cat <<-E
			tx llc delete_link all=1 reason=0x20000 expect=any
			rx rst 2s
			rx down
			qp destroy
		E
	)
	pup_end "puppet as server"
}

# asked N: five connections of a group, four closed, up to the client's DELETE RKEY
asked() {
	local i
	echo "link $1"
	for i in {1..5}; do
		echo "conn g$1c$i"
		echo "accept"
		if [ "$i" = 1 ]; then printf '%s\n' first_contact "let rkey1=%peer_rkey"; else echo "reuse"; fi
		echo "rx data len=5"
		echo "tx data len=5"
	done
	for i in {1..4}; do printf '%s\n' "conn g$1c$i" "close"; done
	echo "conn g$1c5"
	echo "rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s"
}

client() {
	local i n end calls=()
	await up
	pup "inside of ADD LINK and DELETE LINK" <<-E
		connect $PEER 5000
		first_contact until=add_link_reply
		# a notice is ignored, a new RMB refused for now, DELETE RKEY waits
		tx llc add_link reply=0 qpn=0 link=0 psn=0
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=1 retry=1 2s
		rx none 200ms link
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5
		rx llc delete_link reply=0 all=0 link=2
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=1 retry=1 2s
		tx llc delete_rkey n=1 rkey1=0x99
		rx none 200ms link
		tx llc delete_link reply=1 link=2
		# the exchange is over: the deferred one is answered
		rx llc delete_rkey reply=1 negative=1 n=1 mask=0x80 rkey1=0x99 2s
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=0 2s
		tx data len=5
		rx data len=5
		close
		qp destroy
	E
	await up1
	pup "the only link is to go while the second one is withdrawn" <<-E
		set peer_id=0003525400000002
		connect $PEER 5002
		first_contact until=add_link_reply
		tx llc add_link reply=1 rejected=0 qpn=99 mac=%mac gid=%gid mtu=5
		rx llc delete_link reply=0 all=0 link=2
		tx llc delete_link link=1
		rx none 300ms link
		tx llc delete_link reply=1 link=2
		rx llc delete_link reply=0
		rx rst
		rx down
		mark ended
	E
	await up2
	fast rmem=65536 t_rmb_free=500 t_testlink=0
	for n in 1 2 3; do
		end=ECONNRESET
		[ $n != 1 ] || end=eof
		for i in {1..5}; do calls+=("slot:$i" socket "connect:$PEER:5001" send:5 recv:5); done
		for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
		calls+=(slot:5)
		[ $n != 1 ] || calls+=(send:5 recv:5)
		calls+=("recv:1=$end" close)
	done
	app "client program" limit:40 "${calls[@]}"
}
