# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client needs another RMB from the start. Its CONFIRM RKEY does not overtake its reply
# to ADD LINK, which is held here just before it is posted: until then the exchange is
# not over.
#
# covers: CLC-65
# module: none ours
# timeout: 60
# needs: uml
# tags: puppet llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	pup_bg <<-'E'
		set auto_rkey=0
		listen 5000
		mark up
		accept
		first_contact until=add_link
		mark made
		await low
		tx llc add_link
		rx none 700ms link
		mark go
		rx llc add_link reply=1 rejected=1
		rx llc confirm_rkey reply=0 n=0
		tx llc confirm_rkey reply=1
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	insmod "$TREE/build/mod/$KERNEL/smcr_hold.ko"
	local most
	most=$(</proc/sys/net/smcr/max_mem)
	# one element of 512 KiB, with two there would be one left
	fast rmem=524288 max_mem=900
	await up
	app_bg limit:30 socket "connect:$PEER:5000" send:5 recv:5 recv:1=eof close
	await made
	eq "one RMB" "$("$SMCCTL" -j rmb | jq '[.. | objects | select(has("rkey"))] | length')" 1
	fast max_mem="$most"
	echo 2 > /sys/module/smcr_hold/parameters/llc
	mark low
	await go
	eq "the reply is held" "$(</sys/module/smcr_hold/parameters/held)" 1
	echo 0 > /sys/module/smcr_hold/parameters/llc
	app_end "client program"
	eq "RMBs made" "$(counter rmb-created)" 2
	rmmod smcr_hold
}
