# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An IPv6 address of 128 bits, as DHCPv6 assigns it: the on-link route decides whether the
# peer is in a common subnet. Without one it is not.
#
# covers: CLC-19 CLC-26 SEC-02
# timeout: 60
# lanes: uml qemu
# tags: clc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

addresses() { # 128 or 64 ROUTE...
	local plen=$1; shift
	ip -6 addr flush dev eth0 scope global
	ip -6 addr add "$ME6/$plen" dev eth0 nodad
	[ $# = 0 ] || ip -6 route replace fd77:0::/64 "$@"
	ip -6 route
}

link_local() { ip -j -6 addr show dev eth0 scope link | jq -r '[.[].addr_info[]? | .local // empty][0]'; }

# over NAME PORT: a connection over SMC-R, or over TCP if NAME is routed
over() {
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server "$2" send=5k recv=9k
		poll 10 listening "$2"
		mark "up.$1"
		check "$1" wait "$BG"
	else
		await "up.$1"
		check "$1" "$PROG/xfer" client "$PEER6" "$2" send=9k recv=5k
	fi
	if [ "$1" = routed ]; then tcp_was "$1" 1; else smc_was "$1" 1 1; fi
	barrier "over.$1"
}

both() {
	barrier linklocal
	addresses 128 dev eth0
	barrier both
	over both 5000
	[ "$ROLE" = client ] || addresses 64
	barrier one
	over client 5001
	if [ "$ROLE" = client ]; then addresses 64; else addresses 128 dev eth0; fi
	barrier other
	over server 5002
	if [ "$ROLE" = client ]; then
		await ll
		addresses 128 via "$MARK" dev eth0
	else
		mark ll "$(link_local)"
	fi
	barrier gateway
	over routed 5003
	[ "$ROLE" = server ] || eq "why" "$(smc_sum subnet)" 1
}

server() { both; }
client() { both; }
