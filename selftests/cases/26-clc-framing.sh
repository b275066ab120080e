# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Messages that a receiver has to accept: in pieces, with a growth area, with a higher
# version in the Proposal, the longer Decline of version 2, with reserved bits set. The
# module itself sets two reserved bits of CONFIRM LINK, and sends no PSN in reuse (J-05
# and J-06 of the catalogue).
#
# covers: CLC-02 CLC-04 CLC-08 CLC-20 LLC-09
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

ECHO=(accept:0 recv:5 send:5 recv:1=eof close)

server() {
	app_bg limit:60 socket listen:5000 mark:up slot:1 \
		"${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}" "${ECHO[@]}"
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		# Accept, one byte per segment
		accept
		rx proposal
		qp create
		tx accept bytewise
		rx confirm
		qp rtr
		qp rts
		# reserved bits of LLC, too
		tx llc confirm_link @2=ff xor@3=7c @35=ffffffffffffffffff
		rx llc confirm_link reply=1 @3=83
		tx llc add_link @2=f0 xor@3=3f @10=ffff xor@32=f0 @36=ffffffffffffffff
		rx llc add_link reply=1 rejected=1
		rx data len=5
		tx data len=5
		close
		# reserved bits of Accept, byte 7, 51 and 60
		conn 2
		accept
		rx proposal
		tx accept xor@7=07 @51=ff @60=ff
		rx confirm psn=0
		rx data len=5
		tx data len=5
		close
		# Decline with all reserved bits
		conn 3
		accept
		rx proposal
		tx decline xor@7=07 @20=ffffffff
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		# Decline of version 2
		conn 4
		accept
		rx proposal
		tx decline @5=002c @7=20 grow@24=00000000000000000000000000000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "version 15, one byte per segment" <<-E
		connect $PEER 5000
		tx proposal version=15 bytewise
		rx accept first=1 @7=18
		qp create
		qp rtr
		tx confirm bytewise
		rx llc confirm_link @3=03
		qp rts
		tx llc confirm_link reply=1 @2=ff xor@3=7c @35=ffffffffffffffffff
		rx llc add_link
		tx llc add_link reply=1 xor@2=f0 xor@3=3f
		tx data len=5
		rx data len=5
		close
		# version 2, growth area of 8 bytes, all reserved bits set
		conn 2
		connect $PEER 5000
		tx proposal version=2 @5=003c @38=0008 @45=ffff xor@7=0f grow@40=0102030405060708
		rx accept first=0 @7=10 psn=0
		tx confirm xor@7=0f @51=ff @60=ff
		tx data len=5
		rx data len=5
		close
		# the largest growth area that is skipped
		conn 3
		connect $PEER 5000
		tx proposal @5=0400 @38=03cc grow@40=$(printf 'e2d4c3d9%.0s' {1..243})
		rx accept first=0
		tx confirm
		tx data len=5
		rx data len=5
		close
	E
	pup "version 2, and nothing is offered for version 1" <<-E
		connect $PEER 5000
		tx proposal version=2 xor@7=02
		rx decline s=0 diag=0x030c0000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	pup "data in one segment with Decline" <<-E
		connect $PEER 5000
		tx proposal
		rx accept
		tx decline add=0184078a0d
		rx app len=5
		tx fin
		rx eof
	E
	pup "Decline of version 2 instead of Proposal" <<-E
		connect $PEER 5000
		tx decline @5=002c @7=20 grow@24=00000000000000000000000000000000 add=0184078a0d
		rx app len=5
		tx fin
		rx eof
	E

	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "client program, reuse" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "client program, fallback" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "client program, fallback by version 2" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
