# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device fails to destroy a queue pair: it may still receive into the memory of the
# link, so that memory, the completion queue and the protection domain are given up and
# not freed. The log reports it. The group ends all the same, other groups are not
# affected, and the module can be removed, as nothing was outstanding. The case has a
# guest of its own (no other case has that much memory), because the next removal of the
# device would find what is given up here.
#
# timeout: 60
# lanes: uml
# needs: uml plain
# memory: 832
# tags: rmb plain
# shellcheck source=selftests/prog/refuse.sh
. "$PROG/refuse.sh"

server() { refuse_server; }

qps() { rdma -j resource show qp | jq '[.[] | select(.type == "RC")] | length'; }

client() {
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	eq "there is no queue pair" "$(qps)" 0
	refuse_client one 5000 destroy
	eq "one was not destroyed" "$(</sys/module/smcr_verbsfail/parameters/destroy)" 0
	eq "it is there" "$(qps)" 1
	check "the log has it" bash -c "dmesg | grep -q '$(rnic 0) keeps queue pair [0-9]*, its memory is lost'"
	smc_reset
	refuse_client two 5001
	smc_was two 1 1
	eq "no other is left" "$(qps)" 1
	# it still exists: smcr_verbsfail destroys it when it is removed
	rmmod smcr_verbsfail
	eq "none is left" "$(qps)" 0
}
