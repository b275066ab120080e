# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device refuses to deregister the MR of an RMB: it may still let the peer write
# there, so that the memory and the protection domain are given up and not freed.
# They stay in the count of memory in use, and the log has them. Other groups are
# as before. In a guest of its own (no other case has that much memory): what is given
# up here would be found mapped at the next removal of the device.
#
# covers: SEC-08
# timeout: 60
# lanes: uml
# kernels: um
# memory: 768
# tags: rmb plain
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	smc_serve one 5000
	smc_serve two 5001
}

mem() { "$SMCCTL" -j show | jq '[.. | objects | .mem? // empty][0]'; }
# once NAME PORT: a connection, and the end of its group
once() {
	local i
	await "up.$1" 20
	check "$1: client" "$PROG/xfer" client "$PEER" "$2" send=30k recv=50k
	check "$1: released" eventually 20 smc_idle
	[ "$1" = two ] || echo 1 > /sys/module/smcr_verbsfail/parameters/dereg
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		check "$1: group $i is deleted" "$SMCCTL" linkgroup delete "$i"
	done
	check "$1: it is freed" eventually 20 no_group
}

client() {
	local left
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	eq "nothing is in use" "$(mem)" 0
	once one 5000
	left=$(mem)
	eq "one MR was refused" "$(</sys/module/smcr_verbsfail/parameters/dereg)" 0
	check "its memory ($left bytes) is still in use" test "$left" -ge $((256 * 1024))
	check "the log has it" bash -c "dmesg | grep -q '$(rnic 0) keeps $left bytes registered, they are lost'"
	smc_reset
	once two 5001
	smc_was two 1 1
	eq "what the next group had is given back" "$(mem)" "$left"
	# the MR and its protection domain are there to be given up by who refused
	rmmod smcr_verbsfail
}
