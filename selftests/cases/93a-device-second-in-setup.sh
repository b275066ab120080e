# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The server's second RNIC is lost while first contact sets up the first link: its device
# is deleted, or its port goes down. The queue pair that was created for the second link
# is freed; the first link is not affected, the other RNIC is offered then (RFC 7609
# 3.5.1.6, C.8), and data flow.
#
# covers: LG-18 LG-26 FO-23
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet lgr links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# RNIC N has a GID of its address again
# shellcheck disable=SC2046,SC2183 # four numbers
usable() { grep -qs "$(printf 'ffff:%02x%02x:%02x%02x' $(me "$1" | tr . ' '))\$" "/sys/class/infiniband/$(rnic "$1")"/ports/1/gids/*; }
unused() { ! rdma resource show qp link "$(rnic "$1")" | grep -q smcr; }

server() {
	fast max_links=2 t_link_retry=3600000
	app_bg limit:40 socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close
	await device
	rnic_delete 1
	mark device-gone
	await device-over
	rnic_add 1
	check "the RNIC is back" eventually 10 usable 1
	mark device-back
	await port
	check "a queue pair of the second RNIC" test -n "$(rdma resource show qp link "$(rnic 1)" | grep smcr)"
	port_down 1
	check "it is destroyed" eventually 5 unused 1
	mark port-gone
	app_end "server program"
	eq "first contacts that failed" "$(smc_sum link-device)" 0
	eq "link groups" "$(counter lgr-created)" 2
	port_up 1
}

client() {
	local how n=0
	await up
	for how in device port; do
		n=$((n + 1))
		pup "$how" <<-E
			set peer_id=000${n}525400000002
			link $n
			conn $n
			connect $PEER 5000
			first_contact until=confirm_link_reply
			mark $how
			await $how-gone
			first_contact from=confirm_link_reply
			tx data len=5
			rx data len=5
			close
			check offences 0
			qp destroy
			mark $how-over
		E
		[ $how = port ] || await device-back
	done
}
