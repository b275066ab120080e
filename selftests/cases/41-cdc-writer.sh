# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module as writer: it never leaves the window, splits at the end of the ring, sends B
# when the window stops it and only then, and clears B again.
#
# covers: CDC-03 CDC-16 CDC-17 CDC-18 CDC-25 CDC-28 CDC-31 CDC-32 CDC-33
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg socket listen:5000 mark:up slot:1 accept:0 sndbuf:200000 \
		send:40000 await:second send:9000 await:exact send:16384 await:one send:1 recv:7 send:1 close mark:shut \
		slot:2 accept:0 sndbuf:200000 send:100000 await:split send:8000 await:split2 send:16384 close \
		accept:0 sndbuf:200000 send:40000 recv:5 recv:5 recv:1=eof close
	app_end "server program"
}

client() {
	await up
	# The puppet's element: 16 KiB; the next one shows what is written too far.
	pup "full-window writes" <<-E
		set index=2
		connect $PEER 5000
		first_contact until=confirm
		tx confirm cut=0
		fill len=49152
		tx confirm
		rx llc confirm_link
		qp rts
		tx llc confirm_link reply=1
		rx llc add_link
		tx llc add_link reply=1
		# 40000 = 2 x 16384 + 7232: two full windows with B, the rest without
		rx cdc prod=0 prod_wrap=1 cons=0 flags=B
		rx data len=16384
		rx none 300ms
		check untouched off=16384 len=32768
		fill
		consume 16384
		rx cdc prod=0 prod_wrap=2 flags=B
		rx data len=16384
		rx none 200ms
		fill
		consume 16384
		rx cdc prod=7232 prod_wrap=2 flags=0
		rx data len=7232
		check untouched off=7232
		rx none 300ms
		# 9000 more fit, up to 16232
		mark second
		rx cdc prod=16232 prod_wrap=2 flags=0
		rx data len=9000
		consume 16232
		# a write of the whole window, split at the end of the ring, is not blocked
		mark exact
		rx cdc prod=16232 prod_wrap=3 flags=0
		rx data len=16384
		rx none 200ms
		# one byte more finds the window closed: announced, without data
		mark one
		rx cdc prod=16232 prod_wrap=3 flags=B
		rx none 200ms
		# one byte of room
		consume 1
		rx cdc prod=16233 prod_wrap=3 flags=0
		rx data len=1
		# every CDC carries the consumer cursor, B or not
		tx data len=7
		rx cdc prod=16233 cons=7 flags=B
		# otherwise close() sends a CDC of its own when the byte is delivered
		await shut
		consume 16384
		rx cdc flags=0 prod=16234
		rx data len=1
		wait cdc flags=C cons=7
		tx cdc flags=C
		rx eof
		# nothing of it is written any more
		check cdcs 10
	E
	pup "a slow receiver" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact
		# by small steps: never more than was allowed (the puppet checks each)
		rx data len=100000 consume
		rx none 200ms
		# 100000 = 6 x 16384 + 1696
		mark split
		rx data len=8000 consume
		mark split2
		rx data len=16384 consume
		wait cdc has=C
		tx cdc flags=C
		rx eof
	E
	pup "B stays in what is said without data" <<-E
		set peer_id=0003525400000002
		connect $PEER 5000
		first_contact
		rx cdc prod_wrap=1 prod=0 cons=0 flags=B
		rx data len=16384
		# R: what was read is announced at once, and the writer is as blocked as before
		tx data len=5 flags=R
		rx cdc prod_wrap=1 prod=0 cons=5 flags=B
		consume 16384
		rx cdc prod_wrap=2 prod=0 cons=5 flags=B
		rx data len=16384
		consume 16384
		rx data len=7232 consume
		# not blocked any more, which is announced as well
		tx data len=5 flags=R
		rx cdc prod=7232 cons=10 flags=0
		tx cdc flags=D,C
		wait cdc has=C
		rx eof
	E
}
