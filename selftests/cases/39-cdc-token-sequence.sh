# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CDC messages that take effect: the token must be one of this group's connections, the
# sequence number must be newer; end flags are latched; failover validation uses the
# sequence number only.
#
# covers: CDC-05 CDC-10 CDC-11 CDC-46 CDC-47 FO-08 FO-26
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 slot:2 accept:0 recv:5 slot:1 send:5 recv:5 slot:2 send:5 recv:1=eof close \
		slot:1 await:f3 recv:20 recv:1=eof send:5 await:d send:5 close \
		slot:3 accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		slot:3 accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		slot:3 accept:0 recv:1=ECONNABORTED close \
		slot:3 accept:0 recv:5 shut:wr recv:5 recv:5 recv:1=eof close
	app_end "server program"
	eq "unknown tokens were counted" "$(counter cdc-token)" 4
	eq "old messages were counted" "$(counter cdc-old)" 7
	eq "failed validations were counted" "$(counter cdc-validation)" 3
}

client() {
	await up
	pup "tokens" <<-E
		connect $PEER 5000
		first_contact
		accepted
		let t1=%peer_token id=%peer_id
		tx data len=5
		# a second peer with a link group of its own
		set peer_id=0002525400000002
		conn 2
		link 2
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		let t2=%peer_token
		# tokens of no connection; an element's index is none, either
		tx cdc token=0 flags=A skip
		tx cdc token=~ flags=A skip
		tx cdc token=1 flags=C skip
		# the other group's token
		tx cdc token=%t1 flags=A skip
		conn 1
		rx data len=5
		tx data len=5

		# the same sequence number again, with other cursors and flags
		tx cdc seq=-1 prod=0 flags=A skip
		tx cdc seq=-1 prod=4000 flags=C skip
		# older ones, half the number space back
		tx cdc seq=-2 flags=D skip
		tx cdc seq=-32000 flags=D skip
		# a gap
		tx cdc seq=+1000
		# around the wrap, and what was before it is old
		tx cdc seq=+30000
		tx cdc seq=+30000
		tx cdc seq=+4600
		tx cdc seq=-40 flags=D skip
		tx cdc seq=-1 flags=A skip
		conn 2
		rx data len=5
		close
		conn 1

		# F: only the sequence number counts, and the number itself does not advance
		tx cdc flags=F seq=-1 xor@10=ffffffffffffff xor@18=ffffffffffff @25=e0 skip
		tx cdc flags=F seq=-2 @12=00001000 @25=ff skip
		tx cdc flags=F seq=-30000 skip
		# nor does it go back
		tx cdc seq=-1 flags=A skip
		rx none 200ms
		mark f3
		# data are still in order
		tx data len=10
		tx data len=10
		# D is latched; a later message without it changes nothing
		tx cdc flags=D
		rx data len=5
		tx cdc flags=0
		mark d
		rx data len=5
		wait cdc has=C
		tx cdc flags=C
		rx eof

		# F with a number that did not arrive yet: data were lost
		set peer_id=%id
		conn 3
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		tx cdc flags=F skip
		wait cdc has=A
		tx cdc flags=A
		rx rst
		conn 4
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		tx cdc flags=F seq=+32000 skip
		wait cdc has=A
		tx cdc flags=A
		rx rst

		# the same before Confirm
		$(early 6)
		tx cdc flags=F skip
		tx confirm
		wait cdc has=A
		tx cdc flags=A
		rx rst

		# the module repeats its own D in each later CDC
		conn 5
		connect $PEER 5000
		reuse
		tx data len=5
		wait cdc flags=D
		tx data len=5 flags=R
		rx cdc cons=10 flags=D
		tx data len=5 flags=R
		rx cdc cons=15 flags=D
		tx cdc flags=C
		wait cdc flags=D,C
		rx eof
		tx fin
	E
}
