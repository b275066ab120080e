# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A capability allows what was registered, and nothing else: six WRITEs with
# another rkey, below and beyond the memory, without REMOTE_WRITE, into another
# protection domain, and after its registration has ended: each is refused with
# the NAK 0x62, changes no byte, and leaves both queue pairs in ERR.
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
	rdma_server caps 7471
	mark ready
	rdma_served caps
}

client() {
	wire_start 'not arp and not icmp6 and not igmp'
	await ready
	rdma_client caps "$PEER" 7471
	nap 0.5
	wire_stop
	eq "WRITEs that were refused" "$(grep -c '^ok .*: remote access error$' "$CASEDIR/caps.out")" 6
}

host() {
	wire_says caps "$LAB/lib/rdmawire.py"
}
