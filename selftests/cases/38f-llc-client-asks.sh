# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Only the server adds and deletes links, the client asks for it. The module as client
# announces a new RNIC by an ADD LINK that names nothing else, waits for nothing, and does
# nothing by itself; a failed link stays until the server deletes it. The module as
# server: a notice is no offer, whatever it contains, and is never answered; the link that
# the server then offers is its own.
#
# covers: LG-05 LG-31 LLC-35 LLC-44 LLC-47 LLC-79
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs, and again as a new RMB
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

two_cards() { printf '%s\n' "link 2 of 1" "nic $(rnic 1)" "link 1"; }

# GID and MAC of the card, as fields of a message
fields() {
	# shellcheck disable=SC2046,SC2183
	printf 'mac=%s gid=%020dffff%02x%02x%02x%02x' "$(tr -d : < /sys/class/net/eth1/address)" 0 $(me 1 | tr . ' ')
}

server() {
	app_bg limit:40 socket listen:5000 mark:up accept:0 recv:5 send:5 recv:1=eof close
	fast max_links=2 t_link_retry=3600000 t_testlink=30000
	app_end "server program"

	pup_bg <<-E
		$(two_cards)
		listen 5001
		mark up2
		accept
		# the client has one RNIC, and so refuses
		first_contact
		rx data len=5
		tx data len=5
		mark one
		await card
		rx llc add_link reply=0 rejected=0 reason=0 qpn=0 link=0 psn=0 mtu=5 %mark
		# no answer comes, and nothing happens
		rx none 700ms
		mark told
		await told.seen
		# nor does the client wait: a new RMB is confirmed
		rmb
		tx llc confirm_rkey
		rx llc confirm_rkey reply=1 negative=0
		tx data len=5
		rx data len=5
		# the server adds the link
		add_link 2
		mark two
		await two.seen
		# the server's end of the link fails; the client asks for its deletion, and waits
		on 2 qp err
		rx llc delete_link reply=0 about=2 all=0 orderly=0 6s
		rx none 700ms link
		mark asked
		await asked.seen
		delete_link 2
		mark gone
		await gone.seen
		# CONFIRM LINK of the next one does not come. The client asks for its end, and, T_LINK_RETRY
		# after the deletion of the one before, for another one
		link 3 of 1
		nic $(rnic 1)
		conn 1
		link 1
		add_link 3 until=confirm_link
		rx llc delete_link reply=0 about=3 all=0 6s
		delete_link 3
		await card
		rx llc add_link reply=0 rejected=0 qpn=0 link=0 psn=0 %mark 4s
		mark again
		await again.seen
		tx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		$(two_cards)
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0
		tx llc add_link reply=1
		accepted
		tx data len=5
		rx data len=5
		# of the notice only the RNIC is used; the answer is an offer
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=%{1:qpn} link=1 psn=77 mtu=1
		rx llc add_link reply=0 rejected=0
		tx llc add_link reply=1
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		add_link 2
		on 2 tx llc test_link
		on 2 rx llc test_link reply=1
		# at the maximum a notice has no effect
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		on 2 tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=%{1:qpn} link=1 psn=77
		rx none 700ms link
		# a client that asks for the deletion of a link gets the server's own request
		tx llc delete_link about=2 reason=0x20000
		rx llc delete_link reply=0 about=2 all=0
		# inside of that a notice is deferred: the offer comes afterwards
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		rx none 300ms link
		tx llc delete_link reply=1 about=2
		on 2 qp destroy
		rx llc add_link reply=0 rejected=0
		tx llc add_link reply=1
		close
		check offences 0
	E

	rnic_delete 1
	await up2
	fast max_links=2 t_link_retry=3600000 t_testlink=1000
	app_bg limit:40 socket "connect:$PEER:5001" send:5 recv:5 recv:5 send:5 recv:5 recv:1=eof close
	await one
	rnic_add 1
	mark card "$(fields)"
	await told
	says "nothing was added" '."link-num"' 1
	mark told.seen
	await two
	says "the server's" '."link-num"' "1 2"
	mark two.seen
	await asked
	says "it is there until the server says so" '"\(."link-num") \(.status)"' "1 active 2 failed"
	# t_link_retry begins when the deletion is answered, once for all failed attempts
	fast t_link_retry=4000
	mark asked.seen
	await gone
	says "it is gone" '."link-num"' 1
	fast t_llc=1000
	eq "T_LINK_RETRY has not been over" "$(counter timer-link-retry)" 0
	mark gone.seen
	await again
	eq "expiries of T_LINK_RETRY" "$(counter timer-link-retry)" 1
	mark again.seen
	app_end "client program"
}
