# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# bytes-tx and bytes-rx are exact on both sides, whichever side closes first and how, and
# for data that overtake the end of the handshake.
#
# covers: CLC-44
# timeout: 60
# module: ours ours
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=300000

# exact WHAT RX TX: so many bytes more than at the last call
exact() {
	local rx tx
	poll 10 smc_idle || :
	rx=$(smc_sum bytes-rx) tx=$(smc_sum bytes-tx)
	eq "$1: bytes-rx" $((rx - RX)) "$2" || :
	eq "$1: bytes-tx" $((tx - TX)) "$3" || :
	RX=$rx TX=$tx
}

server() {
	local pid
	RX=0 TX=0
	bg "$PROG/sockcmd" limit:20 socket listen:5000 mark:up \
		slot:1 accept:0 recv:$N recv:1=eof send:1=EPIPE close mark:client-closes \
		accept:0 recv:$N send:$N close mark:server-closes \
		accept:0 recv:$N recv:1=eof send:$N shut:wr close mark:halves \
		accept:0 send:$N recv:10 close mark:unread \
		accept:0 peek:1000 recv:$N linger:0 close mark:abort
	pid=$BG
	check "server" wait "$pid" || :
	# what is unread or aborted has arrived all the same
	exact "five ends" $((4 * N + 1000)) $((3 * N))
	barrier counted

	# before the Confirm, whole and in pieces; before the Confirm and never more
	app_bg limit:20 socket rcvbuf:262144 listen:5001 mark:up2 \
		slot:1 accept:0 recv:65536 mark:got recv:1=eof close \
		accept:0 recv:65536 recv:34464 recv:1=eof close \
		accept:0 recv:5 recv:1=eof close
	app_end "early data"
	exact "early data" $((65536 + 100000 + 5)) 0
}

client() {
	RX=0 TX=0
	await up
	check "client" "$PROG/sockcmd" limit:20 \
		slot:1 socket connect:"$PEER":5000 send:$N close await:client-closes \
		slot:2 socket connect:"$PEER":5000 send:$N recv:$N recv:1=eof close \
		slot:3 socket connect:"$PEER":5000 send:$N shut:wr recv:$N recv:1=eof close \
		slot:4 socket connect:"$PEER":5000 recv:$N send:1000 mark:sent 'recv:1=ECONNRESET|eof' close await:unread \
		slot:5 socket connect:"$PEER":5000 send:$N await:abort 'recv:1=ECONNRESET' close || :
	exact "five ends" $((3 * N)) $((4 * N + 1000))
	barrier counted
	await up2
	pup "puppet as client" <<-E
		connect $PEER 5001
		first_contact
		tx data len=65536
		await got
		close
		$(early early 5001)
		tx data len=65536
		tx data len=34464
		rx none 200ms
		tx confirm
		close
		$(early last 5001)
		tx data len=5
		tx cdc flags=C
		tx confirm
		wait cdc has=C
		rx eof
		tx close
	E
}
