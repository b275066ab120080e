# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A first contact whose TCP connection is reset when the client has ADD LINK: the client's
# link group is ACTIVE, and a Decline would be too late, so DELETE LINK is sent, and no
# link is left whose missing partner only retries would show. Before ADD LINK there is no
# DELETE LINK, because a Decline may be under way. FIN has the same effect as RST.
#
# covers: CONN-38
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" <<-E
		# the server waits for the answer to its ADD LINK
		connect $PEER 5000
		first_contact until=add_link_reply
		# ... and knows that it has arrived
		tx llc test_link
		rx llc test_link reply=1
		tx rst
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x30000
		qp destroy
		conn fin
		connect $PEER 5000
		first_contact until=add_link_reply
		tx llc test_link
		rx llc test_link reply=1
		tx fin
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x30000
		rx rst
		qp destroy
		# it waits for CONFIRM LINK
		conn early
		connect $PEER 5000
		first_contact until=confirm_link_reply
		tx rst
		rx none 300ms link
		qp destroy
		# accept() has returned none of these
		conn after
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		qp destroy
	E
}
