# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# When the module declines, with which diagnosis, and when it is too late for a Decline. A
# Decline is the last CLC message, and TCP goes on at once. A host sends it in place of a
# message that is due, never behind one of its own. A send that fails in first contact
# leads to a Decline up to the point of no return; after that there is only RST, and no
# byte of the application on TCP.
#
# covers: CLC-28 CLC-51 CLC-56 CLC-57 CLC-58 CLC-60 CLC-61 CLC-63 SEC-13
# module: ours ours
# timeout: 100
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

echo5=(accept:0 recv:5 send:5 recv:1=eof close)

no_group() { [ "$(counter lgr-created)" = "$(counter lgr-freed)" ]; }

no_qp() { ! rdma resource show qp | grep -q 'comm \[smcr'; }

server() {
	local i calls=()
	# 4 ms x 7: a queue pair that is gone is noticed soon
	fast qp_timeout=10 t_llc_first=1500
	for i in policy limit; do calls+=("${echo5[@]}"); done
	for i in confirm_link add_link; do calls+=("${echo5[@]}"); done
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${calls[@]}"
	await policy
	fast enabled=0
	mark off
	await limit
	fast enabled=1 max_handshakes=1
	mark one
	await unlimited
	fast max_handshakes=4096
	mark many
	app_end "declined connections work over TCP"

	check "no queue pair is left" eventually 10 no_qp
	check "no link group is left" eventually 10 no_group
	# a silent link is tested soon
	fast t_testlink=300 t_llc=1000
	app_bg limit:40 socket listen:5005 mark:up5 slot:1 \
		accept:0 recv:5 slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 recv:1=ECONNRESET close \
		accept:0 recv:5 fill recv:1=ECONNRESET close
	app_end "after the point of no return"

	pup_bg <<-'E'
		listen 5001
		mark up2
		# the CONFIRM LINK reply finds no queue pair: the client declines
		conn reply
		accept
		first_contact until=rts
		# this side expects another PSN, and accepts nothing
		qp rtr psn=-8
		qp rts
		tx llc confirm_link
		rx decline s=0 diag=0x02010000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		# reuse: the link fails after the client's Confirm
		conn 1
		accept
		first_contact
		rx data len=5
		conn reuse
		accept
		rx proposal
		tx accept first=0
		rx confirm
		# not before connect() has returned, which would fail
		await joined
		tx send 052c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 expect=gone
		rx rst
		conn 1
		rx rst
		qp destroy
		# the client's RDMA device is removed after its Proposal: first the Accept
		conn device
		accept
		rx proposal
		mark gone
		await removed
		rx none 500ms tcp
		qp create
		tx accept first=1
		rx decline s=0
		rx app len=5
		tx app len=5
		tx fin
		rx eof
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "instead of Accept" <<-E
		# the server's policy changes after the SYN
		conn policy
		connect $PEER 5000
		opt
		mark policy
		await off
		tx proposal
		rx decline s=0 diag=0x06010000
		# nothing more of CLC; TCP goes on at once
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		mark limit
		await one
		# one handshake at a time, and this one is not finished
		conn first
		connect $PEER 5000
		tx proposal
		rx accept first=1
		conn limit
		connect $PEER 5000
		tx proposal
		rx decline s=0 diag=0x06090000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn first
		tx rst
		mark unlimited
		await many
	E
	pup "what cannot be sent is declined" <<-E
		# this side does not expect the PSN of CONFIRM LINK, which is not acknowledged
		conn confirm_link
		connect $PEER 5000
		first_contact until=qp
		qp create
		qp rtr psn=-8
		tx confirm
		rx decline s=0 diag=0x02010000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		qp destroy
		# no room for ADD LINK
		conn add_link
		set peer_id=0002525400000002 rq=1 repost=0
		connect $PEER 5000
		first_contact until=add_link
		rx decline s=0 diag=0x02020000
		set rq=256 repost=1
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		qp destroy
	E
	await up5
	pup "no Decline after the point of no return" <<-E
		# reuse: the link fails between Accept and Confirm
		conn 1
		connect $PEER 5005
		first_contact
		accepted
		tx data len=5
		conn 2
		connect $PEER 5005
		reuse
		tx data len=5
		rx data len=5
		close
		conn 3
		connect $PEER 5005
		reuse until=confirm
		tx send 052c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 expect=gone
		conn 1
		rx rst
		conn 3
		tx confirm expect=any
		rx rst
		qp destroy
		# a link that fails under a connection: nothing comes on TCP but RST
		conn 4
		connect $PEER 5005
		first_contact
		tx data len=5
		rx data len=16384
		qp destroy
		rx rst
	E

	await up2
	fast qp_timeout=10 t_llc_first=2000
	app "declined: CONFIRM LINK reply" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "reset: reuse" socket "connect:$PEER:5001" send:5 slot:1 socket "connect:$PEER:5001" mark:joined recv:1=ECONNRESET close \
		slot:0 recv:1=ECONNRESET close
	app_bg socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	await gone
	# the removal waits for handshakes that have a reference on the device
	bg rnic_delete 0
	mark removed
	app_end "declined: device"
	check "the device went" wait "$BG"
	rnic_add 0
}
