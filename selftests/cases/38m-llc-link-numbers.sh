# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The server numbers links: each offer has the next number, also after a refused one, and
# no number is reused before all 255 have been used. 0 is never used, nor is the number of
# an existing link. The server begins an attempt a second after a repeated notice.
#
# covers: LG-13
# module: ours none
# nics: 3/3
# timeout: 400
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast max_links=3 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	app_bg limit:380 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	eq "link groups" "$(counter lgr-created)" 1
}

client() {
	local n notice="tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0"
	await up
	pup "puppet as client" -t 380 < <(
		cat <<-E
			$(links 2)
			set max_links=3
			connect $PEER 5000
			first_contact until=add_link
			rx llc add_link reply=0 rejected=0 link=2
			tx llc add_link reply=1 link=2
			accepted
			$notice
			add_link 2 until=confirm_link
			on 2 rx llc confirm_link reply=0 link=3
			add_link 2 from=rts
			# a third one at once
			rx llc add_link reply=0 rejected=0 link=4
			tx llc add_link reply=1 link=4
		E
		# links 1 and 3 exist
		for n in {5..255} 2 4 5; do
			# the queue pair that was refused is destroyed before there are too many
			printf '%s\n' "$notice" "rx llc add_link reply=0 rejected=0 link=$n" "tx llc add_link reply=1 link=$n" "rx none 2ms link"
		done
		printf '%s\n' "tx data len=5" "rx data len=5" "close" "check offences 0"
	)
}
