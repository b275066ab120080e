# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The device of a group that has just been listed is removed before the server checks
# whether it still exists. The removal is in time, and the connection is TCP.
#
# covers: CLC-53 MISC-16
# needs: latch
# timeout: 90
# tags: race lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	local gone
	latch lgr-listed
	bg "$PROG/xfer" server 5000 send=50k recv=30k
	poll 10 listening 5000
	mark up
	holds lgr-listed
	bg rdma link delete "$(rnic 0)"
	gone=$BG
	nap 0.5
	unlatch lgr-listed
	check "the device goes" wait "$gone"
	barrier over
	check "no group is left" eventually 20 no_group
	rnic_add 0
}

client() {
	await up
	smc_reset
	check "client" "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
	tcp_was "client" 1
	barrier over
}
