# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CLC adds no link to a group: while LLC has not settled the second one, which has its queue
# pair at both ends and no connection, Accepts go on to name the first. They name
# the second when CONFIRM LINK is answered, and never one that the group does not have.
#
# covers: LG-06
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

server() {
	local i calls=()
	fast max_links=2 rmem=16384 t_lgr_idle=60000 t_link_retry=3600000
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..6}; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	await all 30
	says "no others" '."link-num"' "1 3"
	mark said
	app_end "server program"
	eq "link groups" "$(counter lgr-created)" 1
}

# accept_names NAME LINK: a connection that the module has on LINK, which is over card LINK - 1
accept_names() {
	cat <<-E
		conn $1
		link 1
		connect $PEER 5000
		reuse until=accept
		rx accept first=0 mac=52540000$(printf %02x $(($2 - 1)))01
		link $2
		tx confirm
		accepted
		tx data len=5
		taken
	E
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		cat <<-E
			link 2 of 1
			nic $(rnic 1)
			link 1
			connect $PEER 5000
			first_contact until=add_link
			rx llc add_link reply=0
			tx llc add_link reply=1
			accepted
			tx data len=5
			taken
			tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
			add_link 2 until=confirm_link_reply
		E
		accept_names 2 1
		accept_names 3 1
		cat <<-E
			on 1 add_link 2 from=confirm_link_reply
			on 2 tx llc test_link
			on 2 rx llc test_link reply=1
		E
		for i in 4 5 6; do accept_names $i 2; done
		printf '%s\n' "mark all" "await said"
		for i in 1 2 3 4 5 6; do printf '%s\n' "conn $i" "rx data len=5" "close"; done
		echo "check offences 0"
	)
}
