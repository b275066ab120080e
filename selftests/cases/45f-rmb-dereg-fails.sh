# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device fails to deregister the MR of an RMB: it may still let the peer write there, so
# the memory and the protection domain are given up and not freed. They stay in the count
# of memory in use, and the log reports them. Other groups are not affected. The case has
# a guest of its own (no other case has that much memory), because the next removal of the
# device would find what is given up here still mapped.
#
# covers: SEC-08
# timeout: 60
# lanes: uml
# needs: uml plain
# memory: 768
# tags: rmb plain
# shellcheck source=selftests/prog/refuse.sh
. "$PROG/refuse.sh"

server() { refuse_server; }

mem() { "$SMCCTL" -j show | jq '[.. | objects | .mem? // empty][0]'; }

client() {
	local left
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	eq "nothing is in use" "$(mem)" 0
	refuse_client one 5000 dereg
	left=$(mem)
	eq "one MR was refused" "$(</sys/module/smcr_verbsfail/parameters/dereg)" 0
	check "its memory ($left bytes) is still in use" test "$left" -ge $((256 * 1024))
	check "the log has it" bash -c "dmesg | grep -q '$(rnic 0) keeps $left bytes registered, they are lost'"
	smc_reset
	refuse_client two 5001
	smc_was two 1 1
	eq "what the next group had is given back" "$(mem)" "$left"
	# the MR and its protection domain still exist: smcr_verbsfail frees them when it
	# is removed
	rmmod smcr_verbsfail
}
