# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer gives a new connection an element that an old one still uses: the old one is
# reset and writes no more, the new one works, and later loses the element in the same
# way. Elements of different RMBs are different, whatever their indexes are.
#
# covers: CLC-40 CLC-46 RMB-24
# module: ours ours
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered again as a new RMB
# tags: puppet clc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	# --- offered in Confirm
	app_bg socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 sndbuf:100000 fill mark:filled \
		slot:2 accept:0 recv:5 send:5 \
		slot:1 recv:1=ECONNRESET close slot:3 accept:0 recv:5 send:5 \
		slot:2 recv:1=ECONNRESET close slot:3 recv:1=eof close
	app_end "server program"

	# --- of two RMBs
	app_bg socket listen:5002 mark:up3 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 send:5 recv:1=eof close
	app_end "server program, two RMBs"

	# --- offered in Accept
	pup_bg <<-'E'
		listen 5001
		mark up2
		set index=3
		accept
		first_contact
		rx data len=16384
		# the window is closed, the program has more
		check cdc has=B
		conn 2
		accept
		rx proposal
		tx accept
		rx confirm
		conn 1
		rx rst
		conn 2
		fill
		tx data len=5
		rx data len=5
		check untouched off=5
		conn 1
		rx none 200ms link
		conn 2
		close
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		set index=3
		connect $PEER 5000
		first_contact
		tx data len=5
		await filled
		rx data len=16384
		check cdc has=B
		conn 2
		connect $PEER 5000
		reuse until=confirm
		tx confirm cut=0
		fill
		tx confirm
		conn 1
		rx rst
		conn 2
		tx data len=5
		rx data len=5
		check untouched off=5
		conn 1
		rx none 200ms link
		conn 3
		connect $PEER 5000
		reuse until=confirm
		tx confirm
		conn 2
		rx rst
		conn 3
		tx data len=5
		rx data len=5
		close
	E
	await up3
	pup "elements of two RMBs" <<-E
		set peer_id=0002525400000002 index=4
		connect $PEER 5002
		first_contact until=confirm
		# the same element, named as one of an RMB that begins 127 elements before
		tx confirm va=-2080768 index=131
		first_contact from=confirm_link
		accepted
		tx data len=5
		rmb
		tx llc confirm_rkey
		rx llc confirm_rkey reply=1 negative=0
		conn 2
		set index=3
		connect $PEER 5002
		reuse
		accepted
		tx data len=5
		rx data len=5
		close
		conn 1
		rx data len=5
		close
	E
	await up2
	app "client program" socket "connect:$PEER:5001" fill slot:1 socket "connect:$PEER:5001" recv:5 send:5 \
		slot:0 recv:1=ECONNRESET send:1=EPIPE close slot:1 recv:1=eof close
}
