# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The MAC of a client's RDMA port changes while a link group lives: the group, whose peer
# has the old MAC, ends at once with its connection, and gets no other connection. When the
# port has its GIDs again, the next connection is a first contact with the new MAC.
#
# covers: LG-02
# timeout: 60
# lanes: uml qemu
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

NEW=02:5e:5e:00:00:02

lost() { [ "$(smc_sum link-device)" -gt 0 ]; }

server() {
	macvlan_setup
	bg "$PROG/sockcmd" limit:40 socket listen:5000:8 mark:up slot:1 accept:0 recv:5 send:5 \
		"recv:1=ECONNRESET|ETIMEDOUT|eof" slot:2 accept:0 recv:50000 send:50000 recv:1=eof
	check "server" wait "$BG"
	check "the server knows the new MAC" bash -c "'$SMCCTL' -j link | grep -q $NEW"
	macvlan_undo
}

client() {
	macvlan_setup
	await up 20
	bg "$PROG/sockcmd" limit:40 slot:1 socket connect:10.88.0.1:5000 send:5 recv:5 mark:one \
		recv:1=ECONNRESET mark:ended await:usable slot:2 socket connect:10.88.0.1:5000 send:50000 recv:50000 close
	await one 20
	eq "SMC-R before" "$(smc_clients)" 1
	macvlan_mac $NEW
	check "the group ends for this reason" eventually 5 lost
	await ended 5
	mark usable
	check "client" wait "$BG"
	eq "no group is used again" "$(smc_sum client-reuses)" 0
	eq "first contacts" "$(smc_sum client-first-contacts)" 2
	eq "fallbacks" "$(smc_fallbacks)" 0
	macvlan_undo
}
