# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Memory of a group is writable by its peer only, readable by no host, and neither after
# it is withdrawn: its key is refused. That the memory is freed after its deregistration,
# and not before, is not visible here.
#
# covers: LG-07 RMB-06 RMB-25 SEC-08 LLC-65 LLC-66
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i calls=()
	fast rmem=65536
	app_bg socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		slot:3 accept:0 recv:5 send:5 recv:1=ECONNRESET close \
		slot:1 send:5 recv:20000 recv:1=eof close
	app_end "server program"

	# Four elements per RMB of this size: the fifth connection needs another one.
	fast t_rmb_free=400 t_abort=300 t_lgr_idle=60000
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..6}; do calls+=("slot:$i" send:5); done
	for i in {1..3}; do calls+=("slot:$i" recv:1=eof close); done
	calls+=(slot:6 recv:1=ECONNRESET close slot:4 recv:5 recv:1=eof close slot:5 recv:1=eof close)
	app_bg limit:20 socket listen:5002 mark:up2 "${calls[@]}"
	app_end "server program, many"
}

client() {
	local i
	await up
	pup_bg <<-E
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		mark victim %peer_rkey %peer_va %peer_index %peer_size
		await attacked 20s
		rx data len=5
		tx data len=20000
		close
	E
	await victim
	read -r rkey va index size <<< "$MARK"
	pup "another peer with the RKey" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		write off=0 len=64 rkey=$rkey va=$((va + (index - 1) * size)) byte=66 expect=err
		rx rst
	E
	pup "nobody may read, not even the peer" <<-E
		set peer_id=0003525400000002
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		read off=0 len=64 expect=err
		rx rst
		mark attacked
	E
	pup_end "the victim's data are what it wrote"

	await up2
	pup "an RMB that was withdrawn" < <(
		cat <<-E
			conn c1
			connect $PEER 5002
			first_contact
			accepted
			tx data len=5
			let rkey1=%peer_rkey va1=%peer_va
		E
		for i in 2 3 4 5 6; do
			cat <<-E
				conn c$i
				connect $PEER 5002
				reuse
				accepted
				tx data len=5
			E
		done
		for i in 1 2 3 4 5 6; do echo "conn c$i"; echo "rx data len=5"; done
		# those in the first RMB end; the others stay
		for i in 1 2 3; do echo "conn c$i"; echo "close"; done
		cat <<-E
			# one connection is enough to keep the RMB, also when an element of
			# another RMB leaves its quarantine and RMBs without use are looked for
			rx none 500ms link
			conn c6
			tx rst
			rx cdc has=A
			rx none 1s link
			conn c4
			tx data len=5
			close
			conn c5
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 @5=00 5s
			# until it is answered the memory is there, and writable
			sleep 300ms
			write off=0 len=16 rkey=%rkey1 va=%va1 byte=77
			tx llc delete_rkey reply=1 rkey1=%rkey1
			sleep 300ms
			# the other RMB is in use
			rx none 600ms
			close
			write off=0 len=16 rkey=%rkey1 va=%va1 byte=77 expect=err
		E
	)
}
