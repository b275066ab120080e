# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server's group without connections ends after T_LGR_IDLE, not earlier; a connection in
# between keeps it. A client's group waits for its server, as long as that answers TEST
# LINK. The operator's end of a group in use.
#
# covers: LG-39 LG-42 LLC-48 CLC-31
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_lgr_idle=1000
	app_bg limit:40 socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=ECONNRESET close
	await open
	check "the operator ends the group" "$SMCCTL" linkgroup delete "$("$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | last')"
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
		rx none 2s link
		conn 2
		accept
		reuse
		rx data len=5
		tx data len=5
		close
		# ... which answers: TEST LINK is sent without connections, too
		set auto_test=0
		rx llc test_link reply=0 3s
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
		rx data len=5
		close
		rx none 600ms link
		conn 2
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		# for longer than the timer would have run
		rx none 1200ms link
		close
		start
		rx llc delete_link reply=0 all=1 orderly=1 link=0 reason=0x30000 4s
		elapsed 700ms 2s
		rx down
		qp destroy
		conn 3
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		mark open
		rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x20000
		rx rst
		rx down
	E
	fast t_lgr_idle=500 t_testlink=300 t_llc=1500
	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close sleep:2500 \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
