# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device neither flushes a queue pair nor destroys it. What is outstanding on this queue
# pair may complete at any time, also when the module is removed: nothing of the module
# runs then. The module can be removed, the RDMA core still lists the queue pair, which
# completes everything, and the module works when it is loaded again.
#
# covers: MISC-20
# timeout: 90
# module: none none
# lanes: uml
# needs: uml plain
# memory: 832
# tags: rmb plain
# shellcheck source=selftests/prog/refuse.sh
. "$PROG/refuse.sh"

server() {
	load_smcr
	smc_serve one 5000
	check "server: its group ends" eventually 20 no_group
	unload_smcr
	await again 40
	load_smcr
	smc_serve two 5001
}

client() {
	local what fails=/sys/module/smcr_verbsfail/parameters
	load_smcr
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="$(rnic 0)"
	echo 1 > $fails/no_err
	refuse_client one 5000 destroy
	echo 0 > $fails/no_err
	eq "one was not destroyed" "$(<$fails/destroy)" 0
	check "it was not flushed" bash -c "dmesg | grep -q 'device $(rnic 0) did not flush 0 sends, [1-9][0-9]* receives'"
	check "the module is removed" unload_smcr
	[ "$FABRIC" != sim ] || poll 20 test ! -d /sys/module/smcr
	check "no module" test ! -d /sys/module/smcr
	# a name of the owner that is still there
	for what in qp cq pd; do
		check "$what: it has an owner" bash -c "rdma resource show $what | grep -q 'comm .*$(rnic 0)'"
	done
	# it flushes and destroys the queue pair
	rmmod smcr_verbsfail
	load_smcr
	smc_reset
	mark again
	refuse_client two 5001
	smc_was two 1 1
}
