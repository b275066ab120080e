# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The route of a connection leads to a netdev that is stacked on a VLAN's netdev. Its group is
# in that VLAN, whether the netdev has a GID of its own or not.
#
# covers: LG-16
# timeout: 30
# tags: lgr sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

vlans() { "$SMCCTL" -ja lgr | jq -c '[.[] | .vlan // 0] | sort'; }

both() {
	modprobe -a 8021q macvlan || skip "no VLANs"
	ip link add link eth0 name eth0.10 type vlan id 10
	ip link set eth0.10 up
	ip link add link eth0.10 name mac10 type macvlan mode bridge
	ip addr add "10.99.0.$ID/24" dev mac10
	ip link set mac10 up
	barrier up
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=2 send=50k recv=30k
		poll 10 listening 5000
		mark ready
		check "server" wait "$BG"
	else
		await ready
		check "above the VLAN" "$PROG/xfer" client "10.99.0.$PEER_ID" 5000 send=30k recv=50k
		check "beside it" "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
	fi
	smc_was "$ROLE" 2 2
	eq "$ROLE: a group in the VLAN, and one in none" "$(vlans)" "[0,10]"
	barrier over
	ip link delete mac10
	ip link delete eth0.10
}
server() { both; }
client() { both; }
