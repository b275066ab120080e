# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ADD LINK, or CONFIRM LINK of a further link, is not acknowledged by the peer's adapter
# outside of first contact: it counts as unanswered at once (C.7.1).
#
# covers: LLC-12
# module: ours none
# nics: 3/3
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with all RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=3 t_llc=30000 t_testlink=0 t_lgr_idle=60000 t_link_retry=3600000 qp_timeout=13
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
}

# deleted LINK BY: over the link BY, long before T_LLC is over
deleted() {
	printf '%s\n' "on $2 rx llc delete_link reply=0 all=0 orderly=0 about=$1 reason=0x10000 9s" "elapsed 10ms 3s" \
		"on $2 tx llc delete_link reply=1 about=$1"
}

client() {
	await up
	pup "puppet as client" <<-E
		set max_links=3
		$(two_link_group)
		rx data len=5
		link 3 of 1
		nic $(rnic 2)
		link 1
		# CONFIRM LINK, for a queue pair that is not ready to receive
		add_link 3 until=rtr
		add_link 3 from=cont until=confirm_link
		start
		$(deleted 3 1)
		on 3 qp destroy
		rx none 300ms link
		# ADD LINK over link 1
		on 1 qp err
		start
		on 2 tx llc add_link gid=%{3:gid} mac=%{3:mac} qpn=0 link=0 psn=0
		$(deleted 1 2)
		wait cdc has=F
		check rx_link 2
		move 2
		close
	E
}
