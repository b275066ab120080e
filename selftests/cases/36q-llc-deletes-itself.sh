# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# DELETE LINK over the link that it names, which 3.5.5.1.3 allows. The module is the
# client: its connection moves, the reply is sent over that link, then the link ends, and
# its device is free. If the reason is a lost path there is no reply, and the link ends as
# well.
#
# covers: LLC-46 LG-22 LG-36
# module: none ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# two_links N: the puppet as server, with two links and a connection on the first
two_links() {
	cat <<-E
		$(links 2)
		listen 5000
		mark up$1
		accept
		first_contact until=add_link
		add_link 2
		tx data len=5
		rx data len=5
		check rx_link 1
	E
}

# on_other N: the connection goes on over the second link
on_other() {
	cat <<-E
		conn 1
		wait cdc has=F
		move 2
		tx data len=5
		rx data len=5
		check rx_link 2
		mark deleted$1
		await gone$1
		close
		check offences 0
	E
}

server() {
	pup_bg <<-E
		$(two_links 1)
		on 1 tx llc delete_link about=1 orderly=0 reason=0x30000
		on 1 rx llc delete_link reply=1 about=1 reason=0x30000
		on 1 qp destroy
		$(on_other 1)
	E
	pup_end "the reply goes over it"
	pup_bg <<-E
		$(two_links 2)
		on 1 tx llc delete_link about=1 orderly=1 reason=0x10000
		$(on_other 2)
	E
	pup_end "no reply"
}

client() {
	local i
	fast max_links=2 t_testlink=0 t_lgr_idle=60000
	for i in 1 2; do
		await "up$i"
		app_bg limit:30 socket nodelay:1 "connect:$PEER:5000" recv:5 send:5 recv:5 send:5 recv:1=eof close
		await "deleted$i"
		bg rnic_delete 0
		check "its device goes" eventually 6 no_rnic 0
		mark "gone$i"
		app_end "client program $i"
		rnic_add 0
	done
}
