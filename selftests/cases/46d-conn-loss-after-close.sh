# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# After the peer's C nothing that happens to TCP, to the peer's element or to the
# link group takes away what it wrote before: it is read to the last byte, and
# then there is the end (J-02 and J-03 of the catalogue). Only what the program
# itself had still to send is lost.
#
# covers: CONN-13 CONN-14
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local all="recv:1000 peek:49000 recv:49000 recv:1=eof"
	fast t_close=1000 t_abort=800
	# shellcheck disable=SC2086
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 await:reset sleep:100 poll:0=IN,OUT,RDHUP send:1=EPIPE $all soerror=ok shut:wr close \
		slot:3 accept:0 recv:5 slot:4 accept:0 recv:5 mark:taken slot:3 poll:0=IN,OUT,RDHUP $all send:1=EPIPE soerror=ok close slot:4 recv:1=eof close \
		accept:0 recv:5 await:payload sleep:100 $all soerror=ECONNABORTED close \
		accept:0 recv:5 sndbuf:200000 send:50000 await:full pollfor:ERR:3000=any $all 'send:1=EPIPE|ECONNRESET' close \
		accept:0 recv:5 await:unread sleep:100 recv:1000 close \
		slot:5 accept:0 recv:5 slot:6 accept:0 recv:5 slot:7 accept:0 recv:5 await:lost sleep:500 \
		slot:5 poll:0=IN,OUT,RDHUP $all soerror=ok poll:0=IN,OUT,RDHUP close slot:6 recv:50000 close slot:7 recv:10 close \
		slot:1 recv:1=ECONNRESET close
	app_end "server program"
	released() { [ "$(counter conn-created)" = "$(counter conn-freed)" ]; }
	check "every connection is released" eventually 10 released
}

# the peer's TEST LINK is answered behind the C that came before it: the module has it
client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# TCP is reset"
		new reset
		cat <<-E
			tx data len=50000
			tx cdc flags=C
			tx llc test_link
			rx llc test_link reply=1
			rx none 50ms
			tx rst
			rx cdc has=A
			mark reset
			rx none 50ms link
		E

		echo "# the element is given to another connection"
		echo "set index=9"
		new old
		cat <<-E
			tx data len=50000
			tx cdc flags=C
			tx llc test_link
			rx llc test_link reply=1
			rx none 50ms
			conn new
			connect $PEER 5000
			reuse
			tx data len=5
			await taken
			conn old
			rx rst
			rx none 50ms link
			conn new
			tx cdc flags=C
			wait cdc has=C
			rx eof
			tx fin
			set index=-1
		E

		echo "# payload on TCP"
		new payload
		cat <<-E
			tx data len=50000
			tx cdc flags=C
			tx llc test_link
			rx llc test_link reply=1
			rx none 50ms
			tx app len=5
			rx cdc has=A
			mark payload
			rx rst
		E

		echo "# the program has more to send than we ever took"
		new full
		cat <<-E
			rx data len=16384
			check cdc has=B
			tx data len=50000
			tx cdc flags=C
			mark full
			rx cdc has=A
			rx rst
		E

		echo "# TCP is reset, and the program closes before it has read all"
		new unread
		cat <<-E
			tx data len=50000
			tx cdc flags=C
			tx llc test_link
			rx llc test_link reply=1
			rx none 50ms
			tx rst
			rx cdc has=A
			mark unread
		E

		echo "# the link group ends: all is read; all but the end; the first bytes"
		new lost1
		echo "tx data len=50000"
		echo "tx cdc flags=C"
		new lost2
		echo "tx data len=50000"
		echo "tx cdc flags=C"
		new lost3
		cat <<-E
			tx data len=50000
			tx cdc flags=C
			tx llc test_link
			rx llc test_link reply=1
			rx none 50ms
			tx rst
			rx cdc has=A
			qp destroy
			conn 1
			tx rst
			mark lost
			conn lost1
			rx end
		E
	)
}
