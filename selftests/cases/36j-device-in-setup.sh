# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The MAC of a client's RDMA port changes while the device creates the queue pair of a new
# link group (a slow verb here). The group is not listed yet, so that the event does not
# find it: the port is checked again when the group is listed, and the connection runs
# over TCP.
#
# covers: LG-02
# timeout: 60
# lanes: uml
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

NEW=02:5e:5e:00:00:02
FAIL=/sys/module/smcr_verbsfail/parameters

waits() { [ "$(<$FAIL/held)" = 1 ]; }

server() {
	macvlan_setup
	bg "$PROG/sockcmd" limit:40 socket listen:5000:8 mark:up slot:1 accept:0 recv:50000 send:50000 recv:1=eof
	check "server" wait "$BG"
	eq "over SMC-R" "$(smc_servers)" 0
	macvlan_undo
}

client() {
	macvlan_setup
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko" dev="rxm$ID"
	await up 20
	echo 1 > $FAIL/hold_create
	bg "$PROG/sockcmd" limit:40 socket connect:10.88.0.1:5000 send:50000 recv:50000 close
	check "the queue pair is being made" eventually 10 waits
	macvlan_mac $NEW
	nap 0.5
	echo 0 > $FAIL/hold_create
	check "client" wait "$BG"
	eq "over SMC-R" "$(smc_clients)" 0
	eq "over TCP" "$(smc_fallbacks)" 1
	eq "groups made" "$(smc_sum lgr-created)" 1
	eq "ended for this reason" "$(smc_sum link-device)" 1
	check "it is freed" eventually 10 no_group
	rmmod smcr_verbsfail
	macvlan_undo
}
