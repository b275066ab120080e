# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The device of a link that the server deletes is removed before the reply is delivered:
# the module is the client, and the peer's adapter has no receive for the reply on the
# other link. TEST LINK, which would make that link fail, is off. The removal does not
# wait for the peer.
#
# covers: LG-36
# module: none ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-E
		$(links 2)
		set rq=16
		listen 5000
		mark up
		accept
		first_contact until=add_link
		add_link 2
		tx data len=5
		rx data len=5
		conn 2
		accept
		link 2
		reuse
		tx data len=5
		rx data len=5
		check rx_link 2
		set repost=0
		mark go
		await sent
		on 2 tx llc delete_link about=1 orderly=1 reason=0x20000
		# as many as there were receives, and not the reply
		rx data len=16
		rx none 500ms link
		mark asked
		await gone
		set repost=1
		on 2 qp receives 100
		on 2 rx llc delete_link reply=1 about=1
		rx data len=24
		close
		conn 1
		move 2
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	local i calls=()
	fast max_links=2 t_llc=30000 t_testlink=0 t_lgr_idle=60000
	await up
	for i in {1..40}; do calls+=(send:1); done
	app_bg limit:40 slot:1 socket nodelay:1 "connect:$PEER:5000" recv:5 send:5 \
		slot:2 socket nodelay:1 "connect:$PEER:5000" recv:5 send:5 await:go "${calls[@]}" mark:sent recv:1=eof close \
		slot:1 recv:1=eof close
	await asked
	bg rnic_delete 0
	check "the device goes" eventually 6 no_rnic 0
	mark gone
	app_end "client program"
	rnic_add 0
}
