# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A connection over RDMA carries data both ways, over IPv4 and IPv6, and plain
# TCP goes on beside it.
#
# covers: MISC-01 MISC-11 CLC-33 CONN-06
# timeout: 60
# lanes: uml qemu
# tags: smoke
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	smc_reset
	bg "$PROG/xfer" server 5000 conns=3 send=300k recv=200k
	local smc=$BG
	bg "$PROG/xfer" server 5001 fam=tcp send=100k recv=100k
	local tcp=$BG
	poll 10 listening 5000
	poll 10 listening 5001
	mark ready
	check "server over SMC-R" wait "$smc"
	check "server over TCP" wait "$tcp"
	smc_was "server" 3 3
	eq "first contact of one group" "$(counter server-first-contacts)" 1
	eq "no counter of a reason" "$(counter subnet)" 0
}

client() {
	await ready
	smc_reset
	check "first contact" "$PROG/xfer" client "$PEER" 5000 send=200k recv=300k
	check "the group is used again" "$PROG/xfer" client "$PEER" 5000 send=200k recv=300k wchunk=1:5000 rchunk=1:9000
	check "IPv6" "$PROG/xfer" client "$PEER6" 5000 send=200k recv=300k
	check "TCP beside it" "$PROG/xfer" client "$PEER" 5001 fam=tcp send=100k recv=100k
	smc_was "client" 3 3
	eq "payload sent by RDMA" "$(smc_sum bytes-tx)" 614400
	eq "payload received by RDMA" "$(smc_sum bytes-rx)" 921600
}
