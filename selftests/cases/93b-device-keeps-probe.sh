# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server with max_links=1 offers another link, which the client refuses, with a queue
# pair for the offer only; the device fails to destroy it. The objects that it is attached
# to are given up and not freed, and the group ends as usual, as do others. In a guest of
# its own: see 29o.
#
# covers: LG-23
# timeout: 60
# lanes: uml
# needs: uml plain
# memory: 832
# tags: rmb plain
# shellcheck source=selftests/prog/refuse.sh
. "$PROG/refuse.sh"

qps() { rdma -j resource show qp | jq '[.[] | select(.type == "RC")] | length'; }
refused() { [ "$(</sys/module/smcr_verbsfail/parameters/destroy)" = 0 ]; }

server() {
	echo 1 > /proc/sys/net/smcr/max_links
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	eq "there is no queue pair" "$(qps)" 0
	echo 1 > /sys/module/smcr_verbsfail/parameters/destroy
	bg "$PROG/xfer" server 5000 send=50k recv=30k
	poll 10 listening 5000
	mark up.one
	check "the one of the offer was not destroyed" eventually 20 refused
	check "the log has it" bash -c "dmesg | grep -q '$(rnic 0) keeps queue pair [0-9]*, its memory is lost'"
	check "server" wait "$BG"
	check "the group is freed" eventually 20 no_group
	eq "it is there" "$(qps)" 1
	smc_serve two 5001
	check "the group is freed" eventually 20 no_group
	eq "no other is left" "$(qps)" 1
	# it still exists: smcr_verbsfail destroys it when it is removed
	rmmod smcr_verbsfail
	eq "none is left" "$(qps)" 0
}

client() {
	refuse_client one 5000
	smc_reset
	refuse_client two 5001
	smc_was two 1 1
}
