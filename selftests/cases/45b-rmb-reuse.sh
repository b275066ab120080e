# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An element that had another owner before: a peer that announces data which it never
# wrote gets zeros, not what the earlier connection left, and the earlier connection's
# token has no effect any more; the same for elements whose quarantine ends together, while
# the element between them keeps what its peer has written. Elements of several sizes in one
# group. Unused RMBs are kept for a while since their last use, and then withdrawn even if
# the peer does not have their keys; an element in quarantine is in use until that ends.
#
# covers: CLC-29 RMB-07 RMB-09 RMB-13 RMB-16 RMB-18 SEC-09 LLC-68 LLC-69 CDC-05
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

zeros=$(printf '00%.0s' {1..60})
b77=$(printf '77%.0s' {1..60})

server() {
	local i calls=() old=(accept:0 recv:16384 recv:1=eof close)
	log_all
	fast rmem=65536 t_abort=200
	app_bg limit:30 socket listen:5000 mark:up slot:9 accept:0 recv:5 slot:1 "${old[@]}" "${old[@]}" "${old[@]}" \
		accept:0 "recvhex:60=$zeros" send:5 recv:1=eof close \
		accept:0 recv:16384 mark:unread recv:1=ECONNRESET close "${old[@]}" "${old[@]}" \
		accept:0 "recvhex:60=$zeros" send:5 recv:1=eof close slot:9 send:5 recv:1=eof close
	await aborted 30
	check "one element is in use, none in quarantine" eventually 10 elems_used 1
	mark free
	app_end "nothing of an earlier connection is seen"
	eq "its token is unknown" "$(counter cdc-token)" 1

	app_bg limit:30 socket rcvbuf:16384 listen:5001 slot:1 socket listen:5002 slot:2 socket rcvbuf:200000 listen:5003 mark:up2 \
		slot:3 accept:0 recv:100000 send:100000 slot:4 accept:1 recv:100000 send:100000 \
		slot:5 accept:2 recv:100000 send:100000 slot:3 recv:1=eof close slot:4 recv:1=eof close slot:5 recv:1=eof close
	app_end "elements of three sizes"

	fast t_rmb_free=800 t_abort=200 t_lgr_idle=60000
	# the answer before the next one connects: accept() takes them in that order
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..6}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:20 socket rcvbuf:65536 listen:5004 mark:up3 "${calls[@]}"
	app_end "more than one RMB"
	check "that the peer did not know one was logged" \
		grep -qE "link group [0-9]+, peer [0-9a-f]{16} does not know RKey 0x[0-9a-f]+" <(messages)
	log_limited

	calls=()
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=ECONNRESET close); done
	app_bg limit:20 socket rcvbuf:65536 listen:5005 mark:up4 "${calls[@]}" mark:reset slot:5 recv:1=eof close
	app_end "connections that are reset"

	fast t_rmb_free=1500
	calls=()
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:20 slot:10 socket rcvbuf:16384 listen:5007 slot:0 socket rcvbuf:65536 listen:5006 mark:up5 "${calls[@]}" \
		slot:6 accept:10 recv:5 send:5 slot:5 recv:1=eof close slot:6 recv:1=eof close
	app_end "an RMB that was in use for long"

	# one RMB, of four elements
	fast max_rmbs_per_lgr=1 t_abort=300
	app_bg limit:20 socket rcvbuf:65536 listen:5008 mark:up6 slot:1 accept:0 recv:16384 slot:2 accept:0 \
		slot:3 accept:0 recv:16384 slot:4 accept:0 recv:5 recv:1=ECONNRESET close \
		slot:1 recv:1=ECONNRESET close slot:3 recv:1=ECONNRESET close slot:2 "recvhex:60=$b77" \
		slot:1 accept:0 "recvhex:60=$zeros" slot:3 accept:0 "recvhex:60=$zeros" send:5 recv:1=eof close \
		slot:1 send:5 recv:1=eof close slot:2 send:5 recv:1=eof close
	await reset2 20
	check "three quarantines end" eventually 10 elems_used 1
	mark free2
	app_end "quarantines that end together"
}

old() { printf '%s\n' "conn $1" "connect $PEER 5000" "reuse" "tx data len=16384"; }

client() {
	local i
	await up
	pup "an element with a past" < <(
		# four elements, given out in turn: 1 stays in use
		printf '%s\n' "conn 9" "connect $PEER 5000" "first_contact" "accepted" "tx data len=5"
		old 2
		echo "let token=%peer_token index=%peer_index rkey=%peer_rkey"
		echo "close"
		for i in 3 4; do old $i; echo "close"; done
		cat <<-E
			conn 2b
			connect $PEER 5000
			tx proposal
			rx accept first=0 index=%index rkey=%rkey token!=%token
			tx confirm
			# the old token does not end the new connection
			tx cdc token=%token flags=A skip
			# nothing was written
			tx cdc advance=60
			rx data len=5
			close
		E
		# TCP is reset, and the peer has not sent A: it may still write, so the
		# element is kept back for T_ABORT
		old 3a
		cat <<-E
			let index=%peer_index
			await unread
			tx rst
			mark aborted
			await free
		E
		for i in 4a 2c; do old $i; echo "close"; done
		cat <<-E
			conn 3b
			connect $PEER 5000
			tx proposal
			rx accept first=0 index=%index rkey=%rkey
			tx confirm
			tx cdc advance=60
			rx data len=5
			close
			conn 9
			rx data len=5
			close
		E
	)
	await up2
	pup "one group, three sizes" <<-E
		set peer_id=0002525400000002 bsize=1
		conn 1
		connect $PEER 5001
		tx proposal
		rx accept first=1 bsize=0
		first_contact from=qp
		tx data len=100000
		rx data len=100000 consume
		conn 2
		connect $PEER 5002
		tx proposal
		rx accept first=0 bsize=2
		tx confirm
		tx data len=100000
		rx data len=100000 consume
		conn 3
		connect $PEER 5003
		tx proposal
		rx accept first=0 bsize=4
		tx confirm
		tx data len=100000
		rx data len=100000 consume
		conn 1
		close
		conn 2
		close
		conn 3
		close
	E
	await up3
	pup "withdrawn" < <(
		cat <<-E
			set peer_id=0003525400000002
			conn c1
			connect $PEER 5004
			first_contact
			tx data len=5
			rx data len=5
			let rkey1=%peer_rkey va1=%peer_va
		E
		for i in 2 3 4 5 6; do printf '%s\n' "conn c$i" "connect $PEER 5004" "reuse" "tx data len=5" "rx data len=5"; done
		for i in 1 2 3 4; do printf '%s\n' "conn c$i" "close"; done
		cat <<-E
			# not at once: connections come and go
			conn c5
			rx none 400ms link
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s
			# the peer does not have the key: then no connection of it can
			# write there
			tx llc delete_rkey reply=1 negative=1 n=1 rkey1=%rkey1 mask=0x80
			rx none 300ms link
			# the link and the other RMB live
			close
			conn c6
			close
			write off=0 len=16 rkey=%rkey1 va=%va1 byte=77 expect=err
		E
	)
	await up4
	pup "kept from the end of the quarantine on" < <(
		cat <<-E
			set peer_id=0004525400000002
			conn c1
			connect $PEER 5005
			first_contact
			tx data len=5
			rx data len=5
			let rkey1=%peer_rkey
		E
		for i in 2 3 4 5; do printf '%s\n' "conn c$i" "connect $PEER 5005" "reuse" "tx data len=5" "rx data len=5"; done
		# for longer than an RMB without users is kept
		echo "rx none 1s link"
		for i in 1 2 3 4; do printf '%s\n' "conn c$i" "tx rst" "rx cdc has=A"; done
		cat <<-E
			conn c5
			await reset
			# T_ABORT for the peer's A, and again in quarantine: only then it is unused
			rx none 800ms link
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s
			tx llc delete_rkey reply=1 n=1 rkey1=%rkey1
			close
		E
	)
	await up5
	pup "kept from the last use on" < <(
		cat <<-E
			set peer_id=0005525400000002
			conn c1
			connect $PEER 5006
			first_contact
			tx data len=5
			rx data len=5
			let rkey1=%peer_rkey
		E
		for i in 2 3 4 5; do printf '%s\n' "conn c$i" "connect $PEER 5006" "reuse" "tx data len=5" "rx data len=5"; done
		# in use for longer than an RMB without users is kept
		echo "rx none 1800ms link"
		for i in 1 2 3 4; do printf '%s\n' "conn c$i" "close"; done
		cat <<-E
			# an element of another size has an RMB of its own. The work that adds it
			# looks for idle ones, too
			conn c6
			connect $PEER 5007
			tx proposal
			rx accept first=0 rkey!=%rkey1 bsize=0
			tx confirm
			tx data len=5
			rx data len=5
			rx none 600ms link
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s
			tx llc delete_rkey reply=1 n=1 rkey1=%rkey1
			conn c5
			close
			conn c6
			close
		E
	)
	await up6
	pup "quarantines that end together" <<-E
		set peer_id=0006525400000002
		conn 1
		connect $PEER 5008
		first_contact
		accepted
		tx data len=16384
		let rkey=%peer_rkey index1=%peer_index
		conn 2
		connect $PEER 5008
		reuse
		accepted
		conn 3
		connect $PEER 5008
		reuse
		accepted
		tx data len=16384
		let index3=%peer_index
		conn 4
		connect $PEER 5008
		reuse
		accepted
		tx data len=5
		taken
		# written, and announced when the quarantines have ended
		conn 2
		write off=0 len=60 byte=77
		# the first quarantine ends a little before the others, which end
		# in the next run of the housekeeping, 100 ms later at the earliest
		conn 4
		tx rst
		rx cdc has=A
		sleep 20ms
		conn 1
		tx rst
		conn 3
		tx rst
		conn 1
		rx cdc has=A
		conn 3
		rx cdc has=A
		mark reset2
		await free2
		conn 2
		tx cdc advance=60
		# nothing was written to the elements of these
		conn 1b
		connect $PEER 5008
		tx proposal
		rx accept first=0 rkey=%rkey index=%index1
		tx confirm
		accepted
		tx cdc advance=60
		conn 3b
		connect $PEER 5008
		tx proposal
		rx accept first=0 rkey=%rkey index=%index3
		tx confirm
		tx cdc advance=60
		rx data len=5
		close
		conn 1b
		rx data len=5
		close
		conn 2
		rx data len=5
		close
	E
}
