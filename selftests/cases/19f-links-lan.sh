# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A group uses the RNICs on its LAN, with the MTU that both ends of a link can have. It
# gets more than two links, so that the loss of one leaves two (RFC 7609 2.2.2, 3.5.5.1.1,
# A.3.2).
#
# covers: LG-30 LG-49 LLC-27 LLC-28 LLC-30 LG-03 LG-16 LG-22
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
		bg "$PROG/xfer" server "$2" conns=6 par=6 send=12m recv=12m
		poll 10 listening "$2"
		mark "ready$2"
	else
		await "ready$2"
		bg "$PROG/xfer" client "$1" "$2" conns=6 par=6 send=12m recv=12m
	fi
}

# away: eth2 is in other subnets, which are its LAN's neighbours, and on the LAN only in a
# VLAN (IPv4), which the group is not in; home: it is back
away() {
	ip addr del "$(me 2)/24" dev eth2
	ip addr del "$(me6 2)/64" dev eth2
	ip addr add "10.88.0.$ID/24" dev eth2
	ip addr add "fd77:0:1::$ID/64" dev eth2 nodad
	ip link add link eth2 name eth2.10 type vlan id 10
	ip addr add "$(me 2)/24" dev eth2.10
	ip link set eth2.10 up
}
home() {
	ip link delete eth2.10
	ip addr del "10.88.0.$ID/24" dev eth2
	ip addr del "fd77:0:1::$ID/64" dev eth2
	nic_address 2
}

# begun WHAT ADDRESS PORT: a group with two links, and a third one when eth2 is on the LAN
begun() {
	away
	barrier "begin.$1"
	load "$2" "$3"
	check "$1: two links" eventually 20 n_links 2
	says "$1: MTU" .mtu "4096 1024"
	nap 2
	check "$1: no link in another subnet or VLAN" n_links 2
	barrier "two.$1"
	home
	check "$1: a third link" eventually 20 n_links 3
	says "$1: its MTU" .mtu "4096 1024 1024"
	barrier "three.$1"
}

both() {
	modprobe 8021q || skip "no VLANs"
	fast max_links=3 qp_timeout=13 t_link_retry=1000
	# the client's second RNIC, and the server's third one
	if [ "$ROLE" = client ]; then ip link set eth1 mtu 1500; else ip link set eth2 mtu 1500; fi
	smc_reset
	begun IPv6 "$PEER6" 5006
	check "transfer over IPv6" wait "$BG"
	barrier ended
	[ "$ROLE" = client ] || "$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	check "no link" eventually 20 n_links 0

	begun IPv4 "$PEER" 5000
	[ "$ROLE" = client ] || rnic_delete 0
	check "two are left" eventually 20 n_links 2
	check "transfer" wait "$BG"
	smc_was "$ROLE" 12 12
	barrier over
	[ "$ROLE" = client ] || rnic_add 0
}

server() { both; }
client() { both; }
