# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The operator removes an RNIC of a group with two links, adds it again, and removes it
# again. Each time the peer is asked, as the operator's request, to delete the link orderly:
# by DELETE LINK of the module as server; by a request of the module as client, which the
# server answers with its own DELETE LINK. No link fails.
#
# covers: LG-42 LLC-48
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# removal N LINK: lines of the puppet: the module's RNIC is removed, and so LINK
removal() {
	printf '%s\n' "mark $puppet.remove.$1" "rx llc delete_link reply=0 all=0 about=$2 orderly=1 reason=0x20000 3s"
	[ "$puppet" = client ] || printf '%s\n' "tx llc delete_link about=$2 orderly=1 reason=0x20000" "rx llc delete_link reply=1 about=$2"
	[ "$puppet" = server ] || echo "tx llc delete_link reply=1 about=$2"
	printf '%s\n' "on $2 qp destroy" "mark $puppet.add.$1"
}
# back LINK: the RNIC comes back, and LINK is added over it
back() {
	printf '%s\n' "link $1 of 1" "nic $(rnic 1)" "link 1"
	[ "$puppet" = client ] || echo "rx llc add_link reply=0 rejected=0 qpn=0 link=0 psn=0"
	echo "add_link $1"
}
script() {
	puppet=$1
	links 2
	if [ "$puppet" = client ]; then
		printf '%s\n' "connect $PEER 5000" "first_contact until=add_link" "add_link 2" accepted "tx data len=5"
	else
		printf '%s\n' "listen 5001" "mark up2" accept "first_contact until=add_link" "add_link 2" "rx data len=5"
	fi
	removal 1 2
	back 3
	# longer than a removal waits for the peer
	echo "sleep 2s"
	removal 2 3
	echo "await $puppet.counted"
	[ "$puppet" = client ] || echo "tx data len=5"
	[ "$puppet" = server ] || echo "rx data len=5"
	printf '%s\n' close "check offences 0"
}
# device PUPPET: this host's RNIC goes and comes, while PUPPET runs at the other one
device() {
	local n
	for n in 1 2; do
		await "$1.remove.$n"
		rnic_delete 1
		await "$1.add.$n"
		[ "$n" = 2 ] || rnic_add 1
	done
	eq "links of the $ROLE that failed" "$(counter link-down)" 0
	mark "$1.counted"
}
knobs() { fast max_links=2 t_testlink=0 t_lgr_idle=60000 t_link_retry=3600000; }

server() {
	knobs
	app_bg limit:40 socket listen:5000 mark:up accept:0 recv:5 await:client.counted send:5 recv:1=eof close
	device client
	app_end "server program"
	rnic_add 1

	pup_bg < <(script server)
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" < <(script client)
	knobs
	await up2
	app_bg limit:40 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	device server
	app_end "client program"
	rnic_add 1
}
