# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TEST LINK of the other side inside of DELETE LINK. The module is the client, and then the
# server, whose connection has to leave a link in order and cannot yet, because the peer's
# adapter has no receive for what is under way there. A TEST LINK over the other link is
# answered at once.
#
# covers: LLC-16 LLC-78
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

knobs() { fast max_links=2 t_llc=16000 t_testlink=0 t_lgr_idle=60000 t_link_retry=3600000; }

server() {
	local i calls=()
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
		check rx_link 1
		set repost=0
		mark go
		await sent
		on 2 tx llc delete_link about=1 orderly=1 reason=0x20000
		on 2 tx llc test_link data=000102030405060708090a0b0c0d0e0f
		on 2 rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 500ms
		# no reply to DELETE LINK: it waits for what is under way
		rx data len=15
		rx none 500ms link
		set repost=1
		on 1 qp receives 100
		on 2 rx llc delete_link reply=1 about=1
		on 1 qp destroy
		rx data len=25
		check rx_link 2
		move 2
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
	pup_end "puppet as server"

	knobs
	for i in {1..40}; do calls+=(send:1); done
	app_bg limit:30 socket listen:5001 mark:up2 slot:1 accept:0 nodelay:1 recv:5 send:5 await:go2 "${calls[@]}" mark:sent2 \
		recv:5 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	local i calls=()
	knobs
	await up
	for i in {1..40}; do calls+=(send:1); done
	app "client program" limit:30 socket nodelay:1 "connect:$PEER:5000" recv:5 send:5 await:go "${calls[@]}" mark:sent recv:5 send:5 recv:1=eof close

	await up2
	pup "puppet as client" <<-E
		$(links 2)
		set rq=16
		connect $PEER 5001
		first_contact until=add_link
		add_link 2
		accepted
		tx data len=5
		rx data len=5
		check rx_link 1
		set repost=0
		mark go2
		await sent2
		on 2 tx llc delete_link about=1 orderly=1 reason=0x20000
		on 2 tx llc test_link data=000102030405060708090a0b0c0d0e0f
		on 2 rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
		# no DELETE LINK yet: it waits for what is under way
		rx data len=15
		rx none 500ms link
		set repost=1
		on 1 qp receives 100
		on 2 rx llc delete_link reply=0 all=0 orderly=1 about=1
		on 2 tx llc delete_link reply=1 about=1
		on 1 qp destroy
		rx data len=25
		check rx_link 2
		move 2
		tx data len=5
		rx data len=5
		close
		check offences 0
	E
}
