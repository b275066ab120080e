# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module as reader: when consumption is announced by a CDC of its own. (After
# the peer's C there is one more reason, J-04 of the catalogue: 46c.)
#
# covers: CDC-24 CDC-25 CDC-26 CDC-27 CDC-28 CDC-29 CDC-30 CDC-37
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast rmem=65536
	app_bg socket listen:5000 mark:up slot:1 accept:0 \
		recv:10000 mark:a await:b recv:1000 mark:b2 await:c recv:1000 mark:c2 await:d recv:5600 mark:d2 \
		await:e recv:1 mark:e2 await:f recv:1 mark:f2 await:g recv:1 mark:g2 \
		await:h recv:1 mark:h2 await:i recv:1 mark:i2 await:j send:1 await:j1 recv:32395 mark:j2 \
		await:u set:OOBINLINE:1 recv:5 mark:u2 await:v recv:4 mark:v2 await:k close
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact
		# 10000 written and read: more than half of 65536 is left, no update
		tx data len=10000
		await a
		rx none 300ms
		# 40000 more: 15536 left. 1000 read: with the 10000 from before it is
		# more than a tenth (CDC-24), counted from what was announced (CDC-29)
		tx data len=40000
		rx none 100ms
		mark b
		rx cdc cons=11000 cons_wrap=0 flags=0
		await b2
		# 26536 of 65536 left, gain of 1000: less than a tenth
		mark c
		await c2
		rx none 300ms
		# and 5600: 6600 in all, 6554 is a tenth
		mark d
		rx cdc cons=17600 flags=0
		await d2
		# 33136 left is more than half: one byte is not worth it
		mark e
		await e2
		rx none 300ms
		# the writer is blocked (B): any consumption is announced, also of what
		# was read before
		tx cdc flags=B
		rx cdc cons=17601 flags=0
		mark f
		rx cdc cons=17602 flags=0
		await f2
		# not blocked any more
		tx cdc flags=0
		mark g
		await g2
		rx none 300ms
		# R with a consumption that is not announced yet: at once
		tx cdc flags=R
		rx cdc cons=17603 flags=0
		# R with nothing to announce, then one byte is read
		tx cdc flags=R
		rx none 200ms
		mark h
		rx cdc cons=17604 flags=0
		await h2
		tx cdc flags=0
		mark i
		await i2
		rx none 300ms
		# a CDC for another reason carries it along
		mark j
		rx cdc cons=17605 prod=1 flags=0
		# ... so that R finds nothing to announce
		tx cdc flags=R
		rx none 200ms
		tx cdc flags=0
		# the module has sent as many CDCs as were due
		check cdcs 7
		mark j1
		# everything is read; more than half is left, no update
		await j2
		rx none 300ms
		# urgent data: the writer waits until they were consumed, whatever the window
		# (Figure 20). P and U are no reason to announce what is before them (CDC-24)
		tx data len=5 flags=P,U
		rx none 200ms
		mark u
		# the reader stops at the mark, behind 50004
		rx cdc cons=50005 flags=0
		await u2
		# the data behind them are ordinary again
		tx data len=5
		mark v
		await v2
		rx none 300ms
		tx cdc flags=C
		mark k
		# what it did not read is dropped, C answers C
		wait cdc has=C
		rx eof
	E
}
