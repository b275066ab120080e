# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Elements of all sizes, different on the two sides, data in both directions at once, the
# last element of an RMB. A client that may have no other RMB declines when its only one has
# smaller elements than its receive buffer needs, although some are free.
#
# covers: CDC-49 CLC-39 CLC-68 RMB-07 RMB-08 RMB-04
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet cdc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# Code of the puppet's element, and what the module's receiver asks for.
SIZES=("0 5 0" "5 0 16384" "1 4 200000" "4 1 30000" "2 2 65536" "3 0 1")

server() {
	local i n=0 calls=()
	for i in "${SIZES[@]}"; do
		n=$((n + 1))
		[ $n = 1 ] || calls+=(slot:0 "rcvbuf:${i##* }")
		calls+=("mark:up$n" slot:1 accept:0 send:300000 recv:300000 send:1 recv:1=eof close)
	done
	# a receive buffer is inherited from the listener
	fast rmem=524288	# more than SO_RCVBUF may ask for here
	app_bg limit:60 slot:0 socket listen:5000 "${calls[@]}"
	app_end "server program"

	# the module as the client: four elements of 16 KiB are its only RMB
	fast max_rmbs_per_lgr=1
	await listening
	app "at the limit of RMBs" slot:1 socket rcvbuf:16384 "connect:$PEER:5001" send:5 \
		slot:2 socket rcvbuf:200000 "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		slot:3 socket rcvbuf:16384 "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		slot:1 recv:5 recv:1=eof close
	eq "declined at the limit of RMBs" "$(counter rmb-limit)" 1

	await listening2
	app "client with the larger element" socket rcvbuf:200000 "connect:$PEER:5002" recv:300000 send:300000 recv:1=eof close
	await listening3
	app "client with the smaller element" socket rcvbuf:16384 "connect:$PEER:5003" recv:300000 send:300000 recv:1=eof close
}

client() {
	local i n=0 bsize want _
	for i in "${SIZES[@]}"; do
		n=$((n + 1))
		await up$n
		read -r bsize want _ <<< "$i"
		pup "element of the puppet: code $bsize, of the module: code $want" <<-E
			set bsize=$bsize index=8
			connect $PEER 5000
			tx proposal
			rx accept bsize=$want
			first_contact from=qp
			rx data len=300000 consume
			tx data len=300000
			rx data len=1 consume
			close
		E
	done
	pup "a receive buffer larger than the elements that are left" <<-E
		listen 5001
		mark listening
		set peer_id=0002525400000002
		conn 1
		accept
		rx proposal
		qp create
		tx accept first=1
		rx confirm bsize=0
		first_contact from=rts
		rx data len=5
		let rkey=%peer_rkey
		conn 2
		accept
		rx proposal
		tx accept first=0
		rx decline s=0 diag=0x06020000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		# what fits is used
		conn 3
		accept
		rx proposal
		tx accept first=0
		rx confirm bsize=0 rkey=%rkey
		rx data len=5
		tx data len=5
		close
		conn 1
		tx data len=5
		close
	E
	# the size that the client needs, and not the server's
	for i in "2 0 4" "3 5 0"; do
		read -r n bsize want <<< "$i"
		pup "element of the puppet as server: code $bsize, of the client: code $want" <<-E
			set peer_id=000${n}525400000003 bsize=$bsize index=8
			listen 500$n
			mark listening$n
			accept
			rx proposal
			qp create
			tx accept first=1
			rx confirm bsize=$want
			first_contact from=rts
			tx data len=300000
			rx data len=300000 consume
			close
		E
	done
}
