# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Elements of all sizes, different on the two sides, data in both directions
# at once, the last element of an RMB.
#
# covers: CDC-49 CLC-39 RMB-08
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
}
