# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Urgent data where buffers and windows meet (RFC 7609 4.7.5, 4.7.6): a send that is cut
# to the send buffer while the window is open, an urgent byte that is the last of the
# ring, and poll() with a low-water mark that is above what comes before the mark.
#
# covers: CDC-40 CDC-41
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast rmem=16384
	app_bg slot:9 socket sndbuf:20480 listen:5001 slot:0 socket listen:5000 mark:up \
		slot:1 accept:9 nodelay:1 recv:5 nonblock sendoob:300000=20480 await:a close \
		slot:2 accept:0 pollfor:pri:5000=PRI await:b recvoob=V atmark=0 recv:16383 atmark=1 mark:b2 recvtext:1=d close \
		slot:3 accept:0 set:RCVLOWAT:1000 pollfor:pri:5000=PRI await:c pollfor:in:0=IN recvsome:100=5 set:RCVLOWAT:1 mark:c2 recvtext:1=d close
	app_end "server program"
}

client() {
	await up
	pup "the puppet's element is larger than the module's send buffer" <<-E
		set peer_id=0003525400000002 index=2 bsize=2
		connect $PEER 5001
		first_contact
		tx data len=5
		# the last byte that was taken is urgent, also when it went before that was known
		wait cdc has=P,U prod=20480
		rx data len=20480
		consume 20480
		mark a
		wait cdc has=C
		tx cdc flags=C
		rx eof
	E
	pup "the module reads" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact
		tx data len=16383
		tx data V flags=P,U
		mark b
		await b2
		tx data d
		wait cdc has=C
		tx cdc flags=C
		rx eof
		conn lowat
		connect $PEER 5000
		reuse
		tx data len=5
		tx data U flags=P,U
		rx none 100ms
		mark c
		await c2
		tx data d
		wait cdc has=C
		tx cdc flags=C
		rx eof
	E
}
