# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One of each operation of a reliable connection: SEND, with immediate, WRITE,
# READ, COMPARE AND SWAP, FETCH AND ADD. The results at both ends, and every header
# on the wire.
#
# module: none
# timeout: 60
# lanes: uml qemu
# needs: plain
# tags: rdma
# fabric: roce -- packets: it reads RoCE packets
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"

server() {
	rdma_server ops 7471
	mark ready
	rdma_served ops
}

client() {
	wire_start 'not arp and not icmp6 and not igmp'
	await ready
	rdma_client ops "$PEER" 7471
	nap 0.5
	wire_stop
}

host() {
	wire_says ops "$LAB/lib/rdmawire.py"
}
