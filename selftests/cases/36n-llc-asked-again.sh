# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# DELETE LINK of one link is not answered: after T_LLC the link that carried it counts as
# dead, too; the request is sent again over another one, followed by one for the silent
# link. DELETE LINK of the group cannot be delivered over the first link, whose queue pair
# is gone at the peer: it is sent over the second, where its delivery is enough. If no
# link delivers it the group ends, too, with its connection.
#
# covers: LLC-10 LLC-48 LLC-50 LLC-52 LLC-53
# module: ours none
# nics: 3/3
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

newest() { "$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | max'; }

server() {
	fast max_links=3 t_llc=1500 t_lgr_idle=60000 t_testlink=3600000 t_link_retry=3600000 qp_timeout=13
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 await:end recv:1=eof close
	await end 30
	app_end "server program"
	eq "exchanges without an answer" "$(counter timer-llc)" 1
	app_bg limit:20 socket listen:5000 mark:up2 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program, the end"
	await gone 20
	check "smcctl" "$SMCCTL" linkgroup delete "$(newest)"
	app_bg limit:20 socket listen:5000 mark:up3 accept:0 recv:5 recv:1=ECONNRESET close
	await dead 20
	check "smcctl, once more" "$SMCCTL" linkgroup delete "$(newest)"
	app_end "server program, nobody hears of the end"
}

client() {
	await up
	pup "puppet as client" <<-E
		$(links 3 3)
		set max_links=3
		connect $PEER 5000
		first_contact until=add_link
		add_link 2
		add_link 3
		accepted
		tx data len=5
		rx data len=5
		tx llc delete_link about=3 orderly=1 reason=0x20000
		rx llc delete_link reply=0 all=0 orderly=1 about=3
		start
		wait cdc has=F
		on 2 rx llc delete_link reply=0 all=0 about=3 4s
		elapsed 1400ms 2200ms
		on 2 tx llc delete_link reply=1 about=3
		on 2 rx llc delete_link reply=0 all=0 orderly=0 about=1 reason=0x10000
		on 2 tx llc delete_link reply=1 about=1
		move 2
		mark end
		close
		check offences 0
		on 2 qp destroy
	E
	await up2
	pup "the end of the group" <<-E
		$(links 2)
		set peer_id=0002525400000002
		connect $PEER 5000
		first_contact until=add_link
		add_link 2
		accepted
		tx data len=5
		rx data len=5
		move 2
		close
		on 1 qp destroy
		mark gone
		on 2 rx llc delete_link reply=0 all=1 link=0 orderly=1 reason=0x20000
		# no answer comes, and the link does not wait for T_LLC
		start
		on 2 rx down
		elapsed 0ms 1200ms
		check offences 0
	E
	await up3
	pup "nobody is there" <<-E
		set peer_id=0003525400000002
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0
		tx llc add_link reply=1
		accepted
		tx data len=5
		taken
		qp destroy
		start
		mark dead
		rx rst
		elapsed 0ms 1200ms
	E
}
