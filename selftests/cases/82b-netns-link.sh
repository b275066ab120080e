# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RNIC of another network namespace, on the LAN of a group, gets no link of it, although
# the RDMA core lets each namespace use each device. When its interface comes back, it does.
#
# covers: SEC-14
# nics: 2/2
# timeout: 90
# fabric: roce -- kernel: in the simulation each host is a namespace that sees its own devices only
# tags: lifecycle links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

qps() { rdma resource show qp link "$1" | grep -c 'comm \[smcr\]' || :; }
has_qp() { [ "$(qps "$1")" -ge 1 ]; }

# card_leaves, card_returns: of the second card, with an RNIC and the same address
card_leaves() {
	rnic_delete 1
	ip netns add other
	ip link set eth1 netns other
	ip -n other addr add "$(me 1)/24" dev eth1
	ip -n other link set eth1 up
	ip netns exec other rdma link add foreign type "$RNIC_TYPE" netdev eth1
	check "the RDMA core shows its RNIC here, too" eventually 5 rdma link show foreign/1
}
card_returns() {
	ip netns exec other rdma link delete foreign
	ip -n other link set eth1 netns 1
	ip netns del other
	ip link set eth1 up
	nic_address 1
	rnic_add 1
}

# foreign HOST: its second card is in another namespace
foreign() {
	[ "$ROLE" != "$1" ] || card_leaves
	barrier "left.$1"
	smc_reset
	if [ "$ROLE" = server ]; then
		app_bg limit:60 socket listen:5000 "mark:up.$1" slot:1 accept:0 recv:5 send:5 recv:1=eof close
	else
		await "up.$1"
		app_bg limit:60 slot:1 socket "connect:$PEER:5000" send:5 recv:5 "await:seen.$1" close
	fi
	nap 3
	[ "$ROLE" != "$1" ] || eq "$1: it gets no queue pair" "$(qps foreign)" 0
	barrier "none.$1"
	[ "$ROLE" != "$1" ] || card_returns
	[ "$ROLE" != "$1" ] || check "$1: it gets one" eventually 20 has_qp "$(rnic 1)"
	barrier "one.$1"
	mark "seen.$1"
	app_end "$ROLE program"
	smc_was "$ROLE" 1 1
	check "$ROLE: no group is left" eventually 20 no_group
	barrier "over.$1"
}

both() {
	fast max_links=2 t_link_retry=1000 t_lgr_idle=500
	foreign server
	foreign client
}
server() { both; }
client() { both; }
