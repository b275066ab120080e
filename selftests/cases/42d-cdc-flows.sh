# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The six flows of RFC 7609 4.7 (figures 16 to 21), message by message: which messages
# come, with which cursors and flags, and that no others do. The module is host A,
# which writes, and then host B, which reads. A receive buffer has 16384 bytes instead
# of 10000; what a figure says of it is larger in proportion. Slips in the figures are
# read as in I-40 of the catalogue.
#
# covers: CDC-08 CDC-14 CDC-17 CDC-24 CDC-25 CDC-26 CDC-27 CDC-28 CDC-29 CDC-30 CDC-31 CDC-32
# covers: CDC-34 CDC-36 CDC-37 CDC-38 CDC-39 CDC-40 CDC-48 MISC-18
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local a="slot:1 accept:0 sndbuf:200000" b="slot:2 accept:0" end="recv:1=eof close"
	fast rmem=16384 eye_catcher=1
	# shellcheck disable=SC2086
	app_bg limit:40 socket listen:5000 mark:up \
		$a send:1000 $end \
		$a send:1000 recv:500 $end \
		$a send:5000 await:a18 send:6600 $end \
		$a send:1000 await:a19 send:32768 $end \
		$a send:996 await:a20 sendoob:500 send:1000 $end \
		$a send:996 await:a21 send:16380 await:a21b send:10 await:a21c sendoob:490 send:1000 $end \
		$b recv:1000 mark:b16 $end \
		$b recv:1000 send:500 $end \
		$b recv:5000 mark:b18 recv:6600 $end \
		$b recv:1000 mark:b19 recv:16380 recv:16380 recv:8 mark:b19b $end \
		$b recv:996 mark:b20 pollfor:PRI:5000=PRI recv:499 recvoob=any skip:1 recv:1000 mark:b20b $end \
		$b recv:996 mark:b21 pollfor:PRI:5000=PRI mark:b21b await:b21c recv:16380 recv:499 recvoob=any skip:1 recv:1000 \
			mark:b21d $end
	app_end "server program"
}

another() { printf '%s\n' "print ---- $1" "conn $1" "connect $PEER 5000" "reuse"; }
# opened N: B sends N bytes to A; all of them are consumed, as announced
opened() { printf '%s\n' "rx cdc prod=$((4 + $1)) prod_wrap=0 flags=0" "rx data len=$1" "consume $1"; }

client() {
	await up
	pup "host A" <<-E
		set no_eye=0
		print ---- 16
		connect $PEER 5000
		first_contact
		rx cdc seq=1 prod=1004 prod_wrap=0 cons=4 cons_wrap=0 flags=0
		rx data len=1000
		consume 1000 quiet
		rx none 200ms
		close
		$(another 17)
		rx cdc seq=1 prod=1004 prod_wrap=0 cons=4 flags=0
		rx data len=1000
		consume 1000 quiet
		tx data len=500
		rx none 200ms
		close
		$(another 18)
		rx cdc seq=1 prod=5004 flags=0
		rx data len=5000
		consume 5000 quiet
		rx none 200ms
		mark a18
		rx cdc seq=2 prod=11604 prod_wrap=0 flags=0
		rx data len=6600
		consume 6600
		rx none 200ms
		close
		$(another 19)
		$(opened 1000)
		mark a19
		rx cdc prod=1004 prod_wrap=1 cons=4 flags=B
		rx data len=16380
		rx none 200ms
		consume 16380
		rx cdc prod=1004 prod_wrap=2 flags=B
		rx data len=16380
		rx none 200ms
		consume 16380
		rx cdc seq=4 prod=1012 prod_wrap=2 flags=0
		rx data len=8
		rx none 200ms
		close
		$(another 20)
		$(opened 996)
		mark a20
		rx cdc prod=1500 prod_wrap=0 flags=P,U
		rx data len=500
		rx none 200ms
		consume 500
		rx cdc seq=3 prod=2500 prod_wrap=0 flags=0
		rx data len=1000
		rx none 200ms
		close
		$(another 21)
		$(opened 996)
		mark a21
		rx cdc prod=1000 prod_wrap=1 flags=0
		rx data len=16380
		mark a21b
		rx cdc prod=1000 prod_wrap=1 flags=B
		mark a21c
		rx cdc prod=1000 prod_wrap=1 flags=B,P
		rx none 200ms
		consume 16380
		rx cdc prod=1500 prod_wrap=1 flags=P,U
		rx data len=500
		rx none 200ms
		consume 500
		rx cdc seq=6 prod=2500 prod_wrap=1 flags=0
		rx data len=1000
		rx none 200ms
		close
	E
	pup "host B" <<-E
		set no_eye=0 peer_id=0002525400000002
		print ---- 16
		connect $PEER 5000
		first_contact
		tx data len=1000
		await b16
		rx none 200ms
		close
		$(another 17)
		tx data len=1000
		rx cdc seq=1 prod=504 prod_wrap=0 cons=1004 cons_wrap=0 flags=0
		rx data len=500
		rx none 200ms
		close
		$(another 18)
		tx data len=5000
		await b18
		rx none 200ms
		tx data len=6600
		rx cdc seq=1 prod=4 cons=11604 cons_wrap=0 flags=0
		rx none 200ms
		close
		$(another 19)
		tx data len=1000
		await b19
		tx cdc flags=R
		rx cdc seq=1 cons=1004 cons_wrap=0 flags=0
		tx data len=16380 flags=B
		rx cdc seq=2 cons=1004 cons_wrap=1 flags=0
		tx data len=16380 flags=B
		rx cdc seq=3 cons=1004 cons_wrap=2 flags=0
		tx data len=8 flags=0
		await b19b
		rx none 200ms
		close
		$(another 20)
		tx data len=996
		await b20
		tx cdc flags=R
		rx cdc seq=1 cons=1000 flags=0
		tx data len=500 flags=P,U
		rx cdc seq=2 cons=1500 flags=0
		tx data len=1000 flags=0
		await b20b
		rx none 200ms
		close
		$(another 21)
		tx data len=996
		await b21
		tx cdc flags=R
		rx cdc seq=1 cons=1000 flags=0
		tx data len=16380 flags=B
		rx none 200ms
		tx cdc flags=B,P
		await b21b
		rx none 200ms
		mark b21c
		rx cdc seq=2 cons=1000 cons_wrap=1 flags=0
		tx data len=500 flags=P,U
		rx cdc seq=3 cons=1500 cons_wrap=1 flags=0
		tx data len=1000 flags=0
		await b21d
		rx none 200ms
		close
	E
}
