# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# D or C of a peer behind the module's A is no end of the stream: the peer's data were
# dropped, and a reader that took it for the end would believe to have all of them.
# Neither is a D whose data were unread when the peer aborted. A D that came when all was
# read stays an end.
#
# The module's A waits in line for the send queue when the peer's A comes: it is sent all the
# same, and nothing that was unsent.
#
# covers: CONN-24 CONN-29 RMB-26
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 await:violation recv:1=ECONNABORTED close \
		accept:0 recv:5 await:reset recv:1=ECONNRESET close \
		accept:0 recv:5 await:unread recv:1=EPIPE close \
		accept:0 recv:5 await:read recv:1=eof close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"

	fast t_testlink=0
	# shellcheck disable=SC2046
	app_bg limit:20 socket listen:5001 mark:up2 slot:1 accept:0 recv:5 $(for _ in {1..150}; do echo send:1; done) send:1000 \
		linger:0 close mark:aborted await:over
	app_end "server program, a full send queue"
	check "it had to wait for the send queue" test "$(counter tx-send-queue-full)" -gt 0
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# an impossible cursor; D behind the module's A"
		new violation
		cat <<-E
			rx none 100ms
			tx cdc cons=1
			wait cdc has=A
			tx data len=100
			tx cdc flags=D
			rx none 100ms link
			mark violation
			tx cdc flags=D,A
			rx rst
		E

		echo "# RST of TCP overtakes data and C"
		new reset
		cat <<-E
			rx none 100ms
			tx rst
			wait cdc has=A
			tx data len=100
			tx cdc flags=C
			rx none 100ms link
			mark reset
		E

		echo "# data and D that nobody has read"
		new unread
		cat <<-E
			rx none 100ms
			tx data len=100
			tx cdc flags=D
			tx cdc flags=D,A
			wait cdc has=A
			rx rst
			mark unread
		E

		echo "# D when all was read"
		new read
		cat <<-E
			rx none 100ms
			tx cdc flags=D
			tx cdc flags=D,A
			wait cdc has=A
			rx rst
			mark read
			conn 1
			rx data len=5
			close
		E
	)
	await up2
	pup "a full send queue" <<-E
		# receives for CONFIRM LINK and ADD LINK
		set peer_id=0002525400000002 rq=2 repost=0
		connect $PEER 5001
		first_contact
		fill
		tx data len=5
		await aborted
		rx rst
		tx cdc flags=A
		sleep 200ms
		check cdcs 0
		qp receives 200
		wait cdc has=A
		rx none 200ms link
		check untouched off=150
		mark over
	E
}
