# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# LLC messages wait for room in the send queue of a link, whose peer receives nothing, and
# the link fails: they are not sent over the link that is added in its place.
#
# covers: LLC-13
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=2 t_testlink=0 t_lgr_idle=60000 t_link_retry=3600000
	app_bg limit:50 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	local i
	await up
	# more questions than the 256 of the send queue and the eight receives: see 34d
	pup "puppet as client" < <(
		cat <<-E
			$(links 2)
			connect $PEER 5000
			first_contact until=add_link
			set rq=8
			add_link 2
			accepted
			tx data len=5
			rx data len=5
			set repost=0
		E
		for ((i = 0; i < 269; i++)); do echo "on 2 tx llc test_link"; done
		cat <<-E
			set repost=1
			# an unknown message
			on 2 tx send 002c$(printf '00%.0s' {1..42}) expect=gone
			on 1 rx llc delete_link reply=0 all=0 orderly=0 about=2 reason=0x40000
			on 1 tx llc delete_link reply=1 about=2
			on 2 qp destroy
			sleep 300ms
			link 3 of 1
			nic $(rnic 1)
			link 1
			tx llc add_link gid=%{3:gid} mac=%{3:mac} qpn=0 link=0 psn=0
			add_link 3
			on 3 tx llc test_link data=00112233445566778899aabbccddeeff
			on 3 rx llc test_link reply=1 data=00112233445566778899aabbccddeeff
			close
			check offences 0
		E
	)
}
