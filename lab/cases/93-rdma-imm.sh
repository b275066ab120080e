# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# WRITE with immediate data: its value and length arrive unchanged, and it takes
# one receive request, also if it has no byte or several packets. Without a
# request it ends with an error or waits: the RNR retry of the receiver decides.
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
	rdma_server write_imm 7471
	mark ready
	rdma_served write_imm
}

client() {
	wire_start 'not arp and not icmp6 and not igmp'
	await ready
	rdma_client write_imm "$PEER" 7471 hold=300
	nap 0.5
	wire_stop
}

host() {
	wire_says write_imm "$LAB/lib/rdmawire.py"
}
