# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The MAC of a client's RDMA port changes while a link group lives: the group, whose
# peer knows the old one, ends at once, and its connection with it; it is used for
# no other. The next connection is a first contact with the new MAC.
#
# covers: LG-02
# timeout: 60
# lanes: uml qemu
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

NEW=02:5e:5e:00:00:02

# A macvlan: unlike the guests' cards it changes its MAC while it is up
mac_setup() {
	rnic_delete 0	# it would have the macvlan's GIDs, too
	# nor does eth0 answer for its address: soft RoCE looks at where a packet comes in
	sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
	ip link add mv0 link eth0 type macvlan mode bridge
	ip addr add "10.88.0.$ID/24" dev mv0
	ip link set mv0 up
	rdma link add "rxm$ID" type $RNIC_TYPE netdev mv0
	poll 10 rxm_active
	barrier set-up
}
mac_undo() {
	barrier undo
	rdma link delete "rxm$ID"
	ip link del mv0
	rnic_add 0
}
rxm_active() { rdma link show "rxm$ID/1" | grep -q 'state ACTIVE'; }
lost() { [ "$(smc_sum link-device)" -gt 0 ]; }

server() {
	mac_setup
	bg "$PROG/sockcmd" limit:40 socket listen:5000:8 mark:up slot:1 accept:0 recv:5 send:5 \
		"recv:1=ECONNRESET|ETIMEDOUT|eof" slot:2 accept:0 recv:50000 send:50000 recv:1=eof
	check "server" wait "$BG"
	check "the server knows the new MAC" bash -c "'$SMCCTL' -j link | grep -q $NEW"
	mac_undo
}

client() {
	mac_setup
	await up 20
	bg "$PROG/sockcmd" limit:40 slot:1 socket connect:10.88.0.1:5000 send:5 recv:5 mark:one \
		recv:1=ECONNRESET mark:ended slot:2 socket connect:10.88.0.1:5000 send:50000 recv:50000 close
	await one 20
	eq "SMC-R before" "$(smc_clients)" 1
	check "another MAC" ip link set mv0 address $NEW
	check "the group ends for this reason" eventually 5 lost
	await ended 5
	check "client" wait "$BG"
	eq "no group is used again" "$(smc_sum client-reuses)" 0
	eq "first contacts" "$(smc_sum client-first-contacts)" 2
	eq "fallbacks" "$(smc_fallbacks)" 0
	mac_undo
}
