# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A group uses the RNICs on its LAN, with the MTU that both ends of a link can have. It
# gets more than two links, so that the loss of one leaves two (RFC 7609 2.2.2, 3.5.5.1.1,
# A.3.2).
#
# covers: LG-30 LG-49 LLC-30
# nics: 3/3
# timeout: 120
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

n_links() { [ "$(links 1 | wc -w)" = "$1" ]; }

load() {
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=6 par=6 send=12m recv=12m
		poll 10 listening 5000
		mark ready
	else
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=6 par=6 send=12m recv=12m
	fi
}

both() {
	fast max_links=3 qp_timeout=13 t_link_retry=1000
	ip addr del "$(me 2)/24" dev eth2
	ip addr add "10.88.0.$ID/24" dev eth2
	[ "$ROLE" = server ] || ip link set eth1 mtu 1500
	barrier begin
	smc_reset
	load
	check "two links" eventually 20 n_links 2
	says "MTU" .mtu "4096 1024"
	nap 2
	check "no link in another subnet" n_links 2
	barrier two
	ip addr del "10.88.0.$ID/24" dev eth2
	nic_address 2
	check "a third link" eventually 20 n_links 3
	barrier three
	[ "$ROLE" = client ] || rnic_delete 0
	check "two are left" eventually 20 n_links 2
	check "transfer" wait "$BG"
	smc_was "$ROLE" 6 6
	barrier over
	[ "$ROLE" = client ] || rnic_add 0
}

server() { both; }
client() { both; }
