# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Confirm names one link of the group, and the server writes on the other one, with the key
# and the address that the client's RMB has there. The Accept has those of the server's RMB on
# the link that it names, as the puppet itself checks.
#
# covers: CLC-30 LG-24 LG-45 RMB-20
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet clc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=2 rmem=16384 t_lgr_idle=60000 t_link_retry=3600000
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 send:5 \
		recv:1=eof close slot:1 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" <<-E
		$(links 2)
		connect $PEER 5000
		first_contact until=add_link
		add_link 2 until=cont
		# in first contact there is one RMB
		rx llc add_link_cont reply=0 about=2 n=1 ref1=%peer_rkey
		# over link 2 the RMB is one that begins an element later
		tx llc add_link_cont reply=1 about=2 va1=+16384
		add_link 2 from=confirm_link
		on 2 tx llc test_link
		on 2 rx llc test_link reply=1
		accepted
		tx data len=5
		taken
		conn 2
		set index=5
		connect $PEER 5000
		reuse until=accept
		# the server will write on link 2; this side writes on link 1, and names that
		rx accept first=0 mac=525400000101
		link 1
		tx confirm index=4
		accepted
		tx data len=5
		rx data len=5
		check rx_link 2
		close
		conn 1
		rx data len=5
		check rx_link 1
		close
		check offences 0
	E
}
