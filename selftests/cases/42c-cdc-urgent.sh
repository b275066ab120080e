# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Urgent data (RFC 7609 4.7.5, 4.7.6). The module as writer: P and U, and nothing behind
# the urgent byte before it was consumed. As reader: which marks are new, which are kept
# and signalled, and a peer that repeats marks, sends wrong ones or does not wait.
#
# covers: CLC-44 CDC-14 CDC-34 CDC-35 CDC-36 CDC-37 CDC-38 CDC-39 CDC-41 CDC-42
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast rmem=16384
	app_bg slot:4 socket sndbuf:20480 listen:5001 slot:0 socket listen:5000 mark:up slot:1 accept:0 sndbuf:200000 \
		await:a sendoob:500 send:1000 recv:5 await:b send:16384 await:c send:10 await:c2 sendoob:490 send:10 \
		await:d send:13000 await:e sendoob:5000 send:10 await:f send:12000 await:g sendoob:2000 \
		await:h sendoob:1 sendoob:1 send:3 sendoob:1 send:1 await:i sendoob:1 close \
		slot:2 accept:0 own urg=0 mark:p0 pollfor:pri:5000=PRI recvoob=EAGAIN atmark=0 urg=1 mark:p1 \
		await:p2 recvoob=U pollfor:pri:0=none urg=0 atmark=0 recvtext:2=ab atmark=1 mark:p3 \
		await:p4 urg=0 pollfor:pri:0=none recvoob=EINVAL mark:p5 \
		pollfor:pri:5000=PRI urg=1 atmark=1 recvoob=V mark:p6 \
		await:p7 recvoob=EINVAL skip:4 recv:16384 atmark=0 mark:p8 \
		pollfor:pri:5000=PRI urg=1 mark:p9 await:q1 pollfor:pri:0=none mark:q2 \
		await:q3 pollfor:pri:0=none urg=0 mark:q4 recvtext:3=abc mark:q5 \
		await:q6 urg=0 pollfor:pri:0=none recvoob=EINVAL atmark=0 mark:q7 \
		pollfor:pri:5000=PRI urg=1 mark:q8 await:q9 urg=1 recvoob=Y recvtext:2=cX atmark=1 recvtext:1=d close \
		accept:0 set:OOBINLINE:1 await:r1 recvoob=EINVAL recvtext:2=ab atmark=1 mark:r2 await:r2u recvtext:1=U await:r3 recvtext:2=cd close \
		accept:0 mark:u0 pollfor:pri:5000=PRI mark:u0.woken await:u1 recvtext:2=ab await:u2 recvtext:1=d close \
		accept:0 await:v1 recvoob=V recvtext:1=d close \
		accept:0 await:s1 atmark=1 set:OOBINLINE:1 inq=16385 recvtext:1=V skip:1 recv:16384 close \
		accept:0 own recv:1=ECONNABORTED urg=0 close \
		accept:4 send:16384 await:t1 sleep:100 outq=0 nonblock sendoob:30000=20480 await:t2 close \
		accept:0 recv:16383 atmark=1 recv:1=eof close
	app_end "server program"
	eq "violations" "$(counter cdc-urgent)" 1
}

client() {
	await up
	# The puppet's element: 16 KiB
	pup "the module writes" <<-E
		set index=2
		connect $PEER 5000
		first_contact
		fill
		mark a
		# Figure 20: 500 bytes, the last one urgent, and 1000 more that have to wait
		rx cdc prod=500 cons=0 flags=P,U
		rx data len=500
		rx none 200ms
		check untouched off=500
		# other CDCs meanwhile carry the same mark
		tx data len=5 flags=R
		rx cdc prod=500 cons=5 flags=P,U
		# the bytes before the urgent one are not enough
		consume 499
		rx none 200ms
		check untouched off=500
		consume 1
		rx cdc prod=1500 flags=0
		rx data len=1000
		consume 1000
		mark b
		rx cdc prod=1500 prod_wrap=1 flags=0
		rx data len=16384
		# Figure 21: the window is closed, P goes ahead of the data
		mark c
		rx cdc prod=1500 prod_wrap=1 flags=B
		mark c2
		rx cdc prod=1500 prod_wrap=1 flags=B,P
		rx none 200ms
		consume 16384
		rx cdc prod=2000 prod_wrap=1 flags=P,U
		rx data len=500
		rx none 200ms
		consume 500
		rx cdc prod=2010 prod_wrap=1 flags=0
		rx data len=10
		consume 10
		# a window that is half open: P with a part, U with the rest
		mark d
		rx cdc prod=15010 prod_wrap=1 flags=0
		rx data len=13000
		mark e
		rx cdc prod=2010 prod_wrap=2 flags=B,P
		rx data len=3384
		rx none 100ms
		consume 16384
		rx cdc prod=3626 prod_wrap=2 flags=P,U
		rx data len=1616
		rx none 100ms
		consume 1616
		rx cdc prod=3636 prod_wrap=2 flags=0
		rx data len=10
		consume 10
		# across the end of the ring
		mark f
		rx cdc prod=15636 prod_wrap=2 flags=0
		rx data len=12000
		consume 12000
		mark g
		rx cdc prod=1252 prod_wrap=3 flags=P,U
		rx data len=2000
		consume 2000
		# a second and a third one while the first is not acknowledged: one mark, the last
		mark h
		rx cdc prod=1253 prod_wrap=3 flags=P,U
		rx none 200ms
		consume 1
		rx cdc prod=1258 prod_wrap=3 flags=P,U
		rx none 100ms
		consume 5
		rx cdc prod=1259 prod_wrap=3 flags=0
		rx data len=7
		consume 1
		# the end does not wait for it
		mark i
		rx cdc prod=1260 prod_wrap=3 flags=P,U
		wait cdc has=P,U,C prod=1260
		tx cdc flags=C
		rx eof
	E
	pup "the module reads" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact
		await p0
		# P is an event of its own
		tx cdc flags=P
		await p1
		# ... and with U the same; unread data are before the byte
		tx data abU flags=P,U
		rx none 100ms
		mark p2
		# a reader of these bytes is at the mark: the byte counts as consumed
		rx cdc cons=3 flags=0
		await p3
		# the mark is repeated, cleared and repeated
		tx cdc flags=P,U
		tx cdc flags=P,U
		tx cdc flags=0
		tx cdc flags=P,U
		rx none 100ms
		mark p4
		await p5
		# the reader is at the mark: consumed at once, without a call
		tx data V flags=P,U
		rx cdc cons=4 flags=0
		await p6
		# a whole ring behind it, also where the byte was
		tx data len=16384
		mark p7
		wait cdc cons=4 cons_wrap=1 flags=0
		await p8
		# P that goes on and off
		tx cdc flags=P
		await p9
		tx cdc flags=0
		rx none 100ms
		mark q1
		await q2
		tx cdc flags=P
		tx cdc flags=0
		tx cdc flags=P
		rx none 100ms
		mark q3
		await q4
		# a byte that was read becomes urgent
		tx data abc
		await q5
		tx cdc flags=P,U
		rx cdc cons=7 cons_wrap=1 flags=0
		mark q6
		await q7
		# a writer that does not wait: the newer byte is the urgent one
		tx data cX flags=P,U
		await q8
		tx data Y flags=P,U
		rx none 100ms
		mark q9
		wait cdc cons=10 cons_wrap=1
		tx data d
		wait cdc has=C
		tx cdc flags=C
		rx eof
		conn inline
		connect $PEER 5000
		reuse
		tx data abU flags=P,U
		rx none 100ms
		mark r1
		# in the stream it is consumed when it was read; what is before it is not announced
		await r2
		rx none 100ms
		mark r2u
		rx cdc cons=3 flags=0
		tx data cd
		mark r3
		wait cdc has=C
		tx cdc flags=C
		rx eof
		conn plain
		connect $PEER 5000
		reuse
		await u0
		# P alone wakes a poll, which no signal ends here
		sleep 100ms
		tx cdc flags=P
		await u0.woken
		tx data abU flags=P,U
		# U only in the CDC of the byte: its acknowledgment comes all the same
		tx cdc flags=0
		rx none 100ms
		mark u1
		rx cdc cons=3 flags=0
		mark u2
		tx data d
		wait cdc has=C
		tx cdc flags=C
		rx eof
		# in front of the Confirm: consumed when the connection begins
		conn early
		connect $PEER 5000
		reuse until=confirm
		tx confirm cut=0
		tx data V flags=P,U
		rx none 100ms
		tx confirm
		rx cdc cons=1 flags=0
		mark v1
		tx data d
		wait cdc has=C
		tx cdc flags=C
		rx eof
		conn late
		connect $PEER 5000
		reuse
		tx data V flags=P,U
		rx cdc cons=1 flags=0
		# the ring is written over while the byte has not been read
		tx data len=16384
		rx none 100ms
		mark s1
		wait cdc has=C
		tx cdc flags=C
		rx eof
		conn lie
		connect $PEER 5000
		reuse
		# the byte before the first
		tx cdc flags=P,U
		wait cdc has=A
		tx cdc flags=A
		rx rst
		conn part
		connect $PEER 5001
		reuse
		rx cdc prod=0 prod_wrap=1 flags=0
		rx data len=16384
		mark t1
		# a send of more than there is room for: the last byte that was taken is urgent
		rx cdc prod=0 prod_wrap=1 flags=B
		rx cdc prod=0 prod_wrap=1 flags=B,P
		consume 16384
		rx cdc prod=0 prod_wrap=2 flags=B,P
		rx data len=16384
		consume 16384
		rx cdc prod=4096 prod_wrap=2 flags=P,U
		rx data len=4096
		consume 4096
		mark t2
		wait cdc has=C
		tx cdc flags=C
		rx eof
	E
	pup "the urgent byte ends a ring that is smaller than the puppet's" <<-E
		set peer_id=0003525400000002 bsize=2
		connect $PEER 5000
		first_contact
		tx data len=16384 flags=P,U
		wait cdc cons=0 cons_wrap=1
		close
	E
}
