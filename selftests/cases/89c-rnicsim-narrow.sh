# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Adapters with no more than smcr requires: no inline data (so that messages have buffers
# of their own), three SGEs, eight pages in a registration (so that an RMB has 32 KiB).
# Data of many sizes are carried by RDMA all the same. An adapter that can register less
# than the smallest element is not used, and the reason is that there is no device.
#
# covers: LLC-01
# module: ours ours
# timeout: 60
# tags: rmb puppet
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

PARAM=/sys/module/rnicsim/parameters
usable() { rdma link show "$(rnic 0)/1" | grep -q 'state ACTIVE'; }

# again NAME=VALUE...: both hosts have a new device with these knobs
again() {
	local kv
	rnic_delete 0
	barrier "gone-$*"
	if [ "$ID" = 1 ]; then for kv; do echo "${kv#*=}" > "$PARAM/${kv%=*}"; done; fi
	barrier "set-$*"
	rnic_add 0
	poll 10 usable
	barrier "back-$*"
}

server() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local old
	old="max_inline=$(<$PARAM/max_inline) max_send_sge=$(<$PARAM/max_send_sge) max_recv_sge=$(<$PARAM/max_recv_sge) page_list=$(<$PARAM/page_list)"
	put "$CASEDIR/old" "$old"
	again max_inline=0 max_send_sge=3 max_recv_sge=1 page_list=8
	smc_reset
	bg "$PROG/sockcmd" limit:40 socket listen:5000:8 mark:up slot:1 accept:0 recv:3000000 send:3000000 recv:1=eof
	check "narrow: server" wait "$BG"
	smc_was narrow 1 1
	app_bg limit:40 socket listen:5002 mark:up2 slot:1 accept:0 recv:5 send:100000 recv:1=eof close
	app_end "narrow: server program"
	again page_list=3
	smc_reset
	bg "$PROG/xfer" server 5001 send=100k recv=100k
	poll 10 listening 5001
	mark ready
	check "too narrow: server" wait "$BG"
	tcp_was "too narrow" 1
	# shellcheck disable=SC2086
	again $old
}

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	again max_inline=0 max_send_sge=3 max_recv_sge=1 page_list=8
	smc_reset
	await up 20
	check "narrow: client" "$PROG/sockcmd" limit:40 socket connect:"$PEER":5000 send:3000000 recv:3000000 close
	smc_was narrow 1 1
	await up2
	# which checks the length of each message
	pup "narrow: puppet as client" <<-E
		connect $PEER 5002
		first_contact
		tx data len=5
		rx data len=100000 consume
		close
		check offences 0
	E
	again page_list=3
	smc_reset
	await ready
	check "too narrow: client" "$PROG/xfer" client "$PEER" 5001 send=100k recv=100k
	tcp_was "too narrow" 1
	eq "no device" "$(counter no-device)" 1
	# shellcheck disable=SC2046
	again $(<"$CASEDIR/old")
}
