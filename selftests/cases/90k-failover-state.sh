# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A message is lost with its link: data, or one without, such as a window update, the end
# of data, the end of a connection, an abort; or one that says that the writer is blocked.
# The peer, a puppet, has its queue pair of that link in error when they are sent. Over the
# other link it gets F with the number of the last message that it has acknowledged, if any,
# and then one new message with all that it has missed. In the other direction the puppet
# repeats everything that had come, without an effect.
#
# covers: CDC-31 FO-04 FO-09 FO-10 FO-11 FO-12 FO-25
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet lgr links failover
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

server() {
	local i calls=() said
	at_once max_links=2 t_lgr_idle=60000 t_testlink=30000 rmem=16384
	smc_reset
	for i in {1..7}; do calls+=("slot:$i" accept:0 recv:5); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}" slot:6 send:9000 slot:1 recv:90 \
		await:broken slot:2 recv:12000 slot:3 shut:wr slot:4 close slot:5 linger:0 close slot:6 send:100 \
		slot:7 sndbuf:200000 send:32768 mark:said \
		slot:3 recv:7 recv:1=eof close slot:2 recv:7 recv:1=eof close slot:6 recv:7 recv:1=eof close \
		slot:7 recv:7 recv:1=eof close slot:1 recv:7 send:7 recv:1=eof close
	await ready
	said=$(counter cdc-tx)
	mark counted
	await said
	eq "messages that were sent and are lost" "$(($(counter cdc-tx) - said)), connections that moved: $(moved)" \
		"6, connections that moved: 0"
	app_end "server program"
	smc_was "server" 7 7
	eq "connections that moved" "$(moved)" 7
	eq "data that were lost" "$(counter cdc-validation)" 0
	eq "messages that came twice" "$(counter cdc-old)" 10
}

client() {
	await up
	pup "messages without data" <<-E
		$(links 2)
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0
		tx llc add_link reply=1
		accepted
		tx data len=5
		taken
		$(for ((n = 2; n <= 7; n++)); do new "$n"; done)
		conn 6
		rx cdc seq=1 prod=9000
		rx data len=9000
		# nine more, so ten in all
		conn 1
		$(for n in {1..9}; do echo "tx data len=10"; done)
		# a connection stays on its link when another link comes
		conn 1
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		add_link 2
		on 2 tx llc test_link
		on 2 rx llc test_link reply=1
		# to a blocked writer every byte that is read is announced
		conn 2
		tx data len=12000 flags=B
		rx cdc seq=1 cons=5 flags=0
		mark ready
		await counted
		on 1 qp err
		mark broken
		conn 2
		rx cdc has=F
		check rx_link 2
		rx cdc seq=3 cons=12005 flags=0
		# nothing was acknowledged, or (6) one message with 9000 bytes, whose
		# completion was signalled
		conn 3
		rx cdc has=F seq=0
		check rx_link 2
		rx cdc seq=2 flags=D
		conn 4
		rx cdc has=F seq=0
		check rx_link 2
		rx cdc seq=2 has=C
		conn 5
		rx cdc has=F seq=0
		check rx_link 2
		rx cdc seq=2 has=A
		rx rst
		conn 6
		rx cdc has=F seq=1
		check rx_link 2
		rx cdc seq=3 prod=9100 flags=0
		rx data len=100
		conn 7
		rx cdc has=F seq=0
		check rx_link 2
		rx cdc seq=2 prod=0 prod_wrap=1 flags=B
		conn 1
		rx cdc has=F seq=0
		on 2 rx llc delete_link reply=0 about=1 all=0 orderly=0
		on 2 tx llc delete_link reply=1 about=1
		conn 5
		move 2
		tx cdc flags=A
		conn 4
		move 2
		tx cdc flags=C
		rx eof
		conn 3
		move 2
		tx data len=7
		tx cdc flags=C
		wait cdc has=C
		rx eof
		conn 2
		move 2
		tx data len=7
		close
		conn 6
		move 2
		tx data len=7
		close
		conn 7
		move 2
		rx data len=16384
		consume 16384
		# nothing waits any more
		rx cdc prod=0 prod_wrap=2 flags=0
		rx data len=16384 consume
		tx data len=7
		close
		conn 1
		move 2
		again 95
		$(for n in {1..10}; do echo "tx cdc seq=$n prod=$((10 * n - 5))"; done)
		tx data len=7
		rx data len=7
		close
		check offences 0
	E
}
