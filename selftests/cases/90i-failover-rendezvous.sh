# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link fails while handshakes use it. Between Accept and Confirm, a side that is past
# the point of no return moves, and sends F with 0. Before that point the client declines,
# the connection is TCP, and the group stays as it was. An Accept may name any link that
# is left. A silent link, and many connections at once: none is lost.
#
# covers: CLC-55 FO-15 FO-19 FO-23 FO-25
# module: ours ours
# nics: 2/2
# timeout: 120
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet lgr links failover clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

server() {
	at_once max_links=2 t_lgr_idle=60000 t_llc=4000
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 \
		slot:1 send:5 recv:1=eof close slot:2 recv:1=eof close slot:3 recv:1=eof close
	app_end "server program"

	# the module is the client
	pup_bg <<-E
		$(links 2)
		listen 5001
		mark up2
		accept
		first_contact until=add_link
		add_link 2
		rx data len=5
		# the client has reported that link 1 is lost; the server has not deleted it yet
		conn 2
		accept
		rx proposal
		on 1 qp err
		mark broken
		on 2 rx llc delete_link reply=0 about=1 reason=0x10000
		link 1
		tx accept first=0
		rx decline s=0 diag=0x030a0000
		rx app len=5
		tx app len=5
		conn 1
		move 2
		tx data len=5
		on 2 delete_link 1
		# link 2 is one like any other
		conn 3
		accept
		link 2
		reuse
		rx data len=5
		tx data len=5
		mark three
		conn 1
		rx data len=6
		check rx_link 2
		check offences 0
	E
	pup_end "puppet as server"

	at_once max_links=2
	smc_reset
	bg "$PROG/stress" server 5002 conns=200 par=12
	local all=$BG
	poll 10 listening 5002
	mark up3
	check "two links" eventually 10 have 2
	await many
	path_cut 1 1
	nap 2
	path_mend 1 1
	check "many connections" wait "$all"
	smc_was "many connections" 200 200
	echo "moved: $(moved)"
	check "no connection is left" eventually 20 smc_idle
}

client() {
	await up
	pup "puppet as client" <<-E
		$(two_link_group)
		# Accept names the second link, which the server loses before Confirm
		conn 2
		connect $PEER 5000
		link 2
		reuse until=confirm
		on 1 tx llc delete_link about=2 reason=0x10000
		on 1 rx llc delete_link reply=0 about=2
		tx confirm
		accepted
		link 1
		tx cdc flags=F seq=0
		tx data len=5
		rx cdc has=F seq=0
		check rx_link 1
		rx data len=5
		on 1 tx llc delete_link reply=1 about=2
		on 2 qp destroy
		conn 3
		link 1
		connect $PEER 5000
		reuse
		accepted
		tx data len=5
		rx data len=5
		check rx_link 1
		conn 1
		rx data len=5
		close
		conn 2
		close
		conn 3
		close
		check offences 0
	E
	at_once max_links=2 t_lgr_idle=60000 t_llc=4000
	await up2
	app_bg limit:40 slot:1 socket "connect:$PEER:5001" send:5 slot:2 socket "connect:$PEER:5001" send:5 recv:5 close \
		slot:1 recv:5 slot:3 socket "connect:$PEER:5001" send:5 recv:5 slot:1 send:6 recv:1=any close slot:3 close
	app_end "client program"
	eq "one connection was declined, for its link" "$(counter no-link)" 1

	"$SMCCTL" lgr
	at_once max_links=2
	await up3
	smc_reset
	bg "$PROG/stress" client "$PEER" 5002 conns=200 par=12 max=100000 ends=chsb
	local all=$BG
	check "two links" eventually 10 have 2
	mark many
	check "many connections" wait "$all"
	smc_was "many connections" 200 200
	check "no connection is left" eventually 20 smc_idle
}
