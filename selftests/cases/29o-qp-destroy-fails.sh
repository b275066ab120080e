# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device refuses to destroy a queue pair: it may still receive into the memory of the
# link, so that this, the completion queue and the protection domain are given up and not
# freed. The log has it. The group ends all the same, other groups are as before, and the
# module can be removed, as nothing was outstanding. In a guest of its own (no other case
# has that much memory): what is given up here would be found at the next removal of the
# device.
#
# timeout: 60
# lanes: uml
# kernels: um
# memory: 832
# tags: rmb plain
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	smc_serve one 5000
	smc_serve two 5001
}

qps() { rdma -j resource show qp | jq '[.[] | select(.type == "RC")] | length'; }
# once NAME PORT: a connection, and the end of its group
once() {
	local i
	await "up.$1" 20
	check "$1: client" "$PROG/xfer" client "$PEER" "$2" send=30k recv=50k
	check "$1: released" eventually 20 smc_idle
	[ "$1" = two ] || echo 1 > /sys/module/smcr_verbsfail/parameters/destroy
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		check "$1: group $i is deleted" "$SMCCTL" linkgroup delete "$i"
	done
	check "$1: it is freed" eventually 20 no_group
}

client() {
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	eq "there is no queue pair" "$(qps)" 0
	once one 5000
	eq "one was not destroyed" "$(</sys/module/smcr_verbsfail/parameters/destroy)" 0
	eq "it is there" "$(qps)" 1
	check "the log has it" bash -c "dmesg | grep -q '$(rnic 0) keeps queue pair [0-9]*, its memory is lost'"
	smc_reset
	once two 5001
	smc_was two 1 1
	eq "no other is left" "$(qps)" 1
	# it is there to be destroyed by what has refused
	rmmod smcr_verbsfail
	eq "none is left" "$(qps)" 0
}
