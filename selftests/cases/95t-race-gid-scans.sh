# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The GIDs of a new device are being counted when an address is added, so that they are
# counted again. The counts follow each other: the one that began first does not set the
# final result.
#
# covers: MISC-16
# needs: latch
# timeout: 60
# tags: race rdma
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	local late
	late=${ME%.*}.$((${ME##*.} + 100))
	rnic_delete 0
	latch gid-scan
	bg rnic_add 0
	holds gid-scan
	ip addr add "$late/24" dev eth0
	nap 1
	check "one count at a time" held gid-scan
	unlatch gid-scan
	check "the device is there" wait "$BG"
	poll 10 rnic_usable 0
	smc_serve late 5000
	await over
	ip addr del "$late/24" dev eth0
}

client() {
	await up.late
	smc_reset
	check "client" "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
	smc_was "client" 1 1
	mark over
}
