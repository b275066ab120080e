# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Keepalive (RFC 7609 4.5.3): TEST LINK is sent when a connection with SO_KEEPALIVE and
# its link have both been idle, once for all connections. Without an answer it is sent
# TCP_KEEPCNT times, TCP_KEEPINTVL apart; then the link fails, and calls on the socket
# return ETIMEDOUT. The module's own TEST LINK is off meanwhile.
#
# covers: KA-01 KA-02 KA-04 KA-05
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc keepalive
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local k=$SLOW
	# t_llc: the link lives that long in any case, because others use it; and no other
	# link is offered meanwhile
	fast t_testlink=0 t_llc=2000 t_link_retry=86400000
	app_bg limit:60 socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 send:5 await:far keepalive:$((30 * SLOW)) await:on keepalive:$k:$SLOW:3 \
		slot:2 accept:0 keepalive:$k:$SLOW:3 recv:5 send:5 mark:both \
		slot:1 recv:4 await:off keepalive:0 slot:2 keepalive:0 \
		slot:3 accept:0 keepalive:$((2 * SLOW)):$SLOW:3 recv:1=ETIMEDOUT soerror close \
		slot:1 recv:1=ETIMEDOUT close slot:2 recv:1=ETIMEDOUT close
	app_end "server program"
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		cat <<-E
			set auto_test=0
			connect $PEER 5000
			first_contact
			tx data len=5
			rx data len=5
			# no connection has keepalive; then one with a long interval
			rx none 1300ms link
			mark far
			rx none 1000ms link
			# the link was idle for longer than that already: at once
			mark on
			rx llc test_link reply=0 1s
			tx llc test_link reply=1
			start
			rx llc test_link reply=0 3s
			elapsed 900ms 1900ms
			# the second probe; they are answered late, and both of them
			rx llc test_link reply=0 3s
			elapsed 1900ms 2900ms
			tx llc test_link reply=1
			tx llc test_link reply=1
			conn 2
			connect $PEER 5000
			reuse
			tx data len=5
			rx data len=5
			await both
			# two idle connections: one TEST LINK
			start
			rx llc test_link reply=0 3s
			elapsed 700ms 1900ms
			rx none 300ms link
			tx llc test_link reply=1
			rx none 500ms link
			conn 1
		E
		# one of them is busy: none
		for i in {1..4}; do
			echo "tx data len=1"
			echo "rx none 500ms link"
		done
		cat <<-E
			start
			rx llc test_link reply=0 3s
			elapsed 100ms 1500ms
			tx llc test_link reply=1
			mark off
			rx none 1300ms link
			# a new connection is not idle, however long the link was
			conn 3
			connect $PEER 5000
			start
			reuse
			rx llc test_link reply=0 4s
			elapsed 1900ms 2900ms
			# the interval is another one than the idle time
			start
			rx llc test_link reply=0
			elapsed 900ms 1700ms
			rx llc test_link reply=0
			elapsed 1900ms 2700ms
			rx none 800ms
			rx rst
			elapsed 2900ms 4s
			rx down
		E
	)
}
