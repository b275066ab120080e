# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# DELETE LINK in both roles: unknown links, the only link, the whole group, the
# idle timer, the removal of the module.
#
# covers: LLC-03 LLC-48 LLC-76 LG-36 LG-40 LG-41 LG-43
# module: none none
# timeout: 90
# needs: synopt
# tags: puppet llc lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	load_smcr
	fast t_lgr_idle=60000
	app_bg limit:40 socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 \
		recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET close slot:1 recv:1=ECONNRESET close \
		slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	unload_smcr

	pup_bg <<-'E'
		listen 5001
		mark up2
		# a link that does not exist; then the only one
		accept
		first_contact
		rx data len=5
		tx llc delete_link link=77
		rx llc delete_link reply=1 link=77 reason=0x100000
		tx data len=5
		tx llc delete_link expect=gone
		rx llc delete_link reply=1 link=%link_num
		rx rst
		rx down
		qp destroy
		# the whole group: no reply, and the end of each connection
		conn 2
		accept
		first_contact
		rx data len=5
		conn 2.2
		accept
		reuse
		rx data len=5
		conn 2.3
		accept
		reuse
		rx data len=5
		tx llc delete_link all=1 reason=0x20000 expect=gone
		rx none 200ms link
		rx rst
		conn 2.2
		rx rst
		conn 2
		rx rst
		rx down
		qp destroy
		# the client's module is removed while the group is idle; it asks for
		# the end of the group, and waits a moment for the answer
		conn 3
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		mark idle
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x20000
		tx llc test_link
		sleep 50ms
		tx llc test_link
		# the client may be gone before it acknowledges this
		tx llc delete_link all=1 orderly=1 reason=0x20000 expect=any
		rx down
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact
		tx data len=5
		# unknown link
		tx llc delete_link link=77
		rx llc delete_link reply=1 link=77 reason=0x100000
		rx data len=5
		# a notice about the only link: the server's own request answers it
		tx llc delete_link
		rx llc delete_link reply=0 all=0 orderly=0 link=%link_num reason=0x10000
		tx llc delete_link reply=1 expect=gone
		rx rst
		rx down
		qp destroy
		# the whole group; what was not read by then is lost with it (CONN-32)
		conn 2
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		conn 2.2
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		conn 2.3
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		tx llc delete_link all=1 orderly=1 reason=0x20000 expect=gone
		rx llc delete_link reply=0 all=1 link=0 reason=0x20000
		rx rst
		conn 2.2
		rx rst
		conn 2
		rx rst
		rx down
		qp destroy
		# in the middle of first contact
		conn 3
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc delete_link all=1 reason=0x40000 expect=gone
		rx rst
		rx down
		qp destroy
		# the server's module is removed while the group is idle
		conn 4
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x20000
		rx down
	E
	await up2
	load_smcr
	app "deleted by the server" socket "connect:$PEER:5001" send:5 recv:5 recv:1=ECONNRESET send:1=EPIPE close \
		slot:1 socket "connect:$PEER:5001" send:5 slot:2 socket "connect:$PEER:5001" send:5 \
		slot:3 socket "connect:$PEER:5001" send:5 recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET close \
		slot:1 recv:1=ECONNRESET close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	await idle
	unload_smcr
}
