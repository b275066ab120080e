# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CONFIRM RKEY and DELETE RKEY of the peer: accepted, refused, and impossible ones.
#
# covers: LLC-03 LLC-59 LLC-64 LLC-67
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

rkeys() {
	cat <<-'E'
		# a new RMB: the reply is the request with R set, byte by byte
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=0 retry=0 n=0 @0=062c0080 @4=00112233440000 @11=7f0012340000 @17=000000000000000000000000000000000000000000000000000000
		# the same once more is accepted
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=0
		# a link that does not exist
		tx llc confirm_rkey rkey=0x55667788 va=0x7f0056780000 n=1 link1=9 rkey1=1 va1=2
		rx llc confirm_rkey reply=1 negative=1 retry=0 rkey=0x55667788
		# which is not remembered
		tx llc delete_rkey n=1 rkey1=0x55667788
		rx llc delete_rkey reply=1 negative=1 n=1 mask=0x80 rkey1=0x55667788
		# known and unknown in one message
		tx llc delete_rkey n=3 rkey1=0x99 rkey2=0x11223344 rkey3=0x9a
		rx llc delete_rkey reply=1 negative=1 n=3 mask=0xa0 rkey2=0x11223344
		# it is gone now
		tx llc delete_rkey n=1 rkey1=0x11223344
		rx llc delete_rkey reply=1 negative=1 mask=0x80
		# a positive one
		tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
		rx llc confirm_rkey reply=1 negative=0
		tx llc delete_rkey n=1 rkey1=0x11223344
		rx llc delete_rkey reply=1 negative=0 mask=0
		# an RMB that a connection writes to is kept as long
		tx llc delete_rkey n=1 rkey1=%rkey
		rx llc delete_rkey reply=1 negative=1 mask=0x80
	E
}

dies() {
	n=$((n + 1))
	cat <<-E
		conn $n
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		tx llc $1 expect=gone
		rx rst
		rx down
		qp destroy
	E
}

DEADLY=("confirm_rkey @4=09" "confirm_rkey reply=1" "delete_rkey n=1 @4=00" "delete_rkey @4=09" "delete_rkey reply=1"
	"confirm_rkey n=1 link1=0 rkey1=1 va1=1")

server() {
	local i calls=()
	for i in "${DEADLY[@]}"; do calls+=(accept:0 recv:5 send:5 recv:1=ECONNRESET close); done
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close "${calls[@]}"
	app_end "server program"

	pup_bg < <(
		echo "listen 5001"
		echo "mark up2"
		echo "accept"
		echo "first_contact"
		echo "rx data len=5"
		rkeys
		echo "tx data len=5"
		echo "close"
	)
	pup_end "puppet as server"
}

client() {
	local n=0 i
	await up
	pup "puppet as client" < <(
		cat <<-E
			connect $PEER 5000
			first_contact until=confirm_link_reply
			# inside of the server's exchange: refused for now
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=1 retry=1
			tx llc confirm_rkey_cont n=3 link1=2 rkey1=1 va1=1 @18=02 @31=02
			rx llc confirm_rkey_cont reply=1 negative=1 n=3 @0=082c00a0 @5=02 @18=02 @31=02
			tx llc confirm_link reply=1
			rx llc add_link
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=1 retry=1
			tx llc add_link reply=1
			tx data len=5
			rx data len=5
		E
		rkeys
		echo "close"
		# what was withdrawn meanwhile is forgotten with its connection
		cat <<-E
			sleep 500ms
			tx llc delete_rkey n=1 rkey1=%rkey
			rx llc delete_rkey reply=1 negative=1 mask=0x80
		E
	)
	pup "impossible ones end the link" < <(for i in "${DEADLY[@]}"; do dies "$i"; done)
	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
