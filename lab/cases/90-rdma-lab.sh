# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RDMA lab: two guests with two cards each, soft RoCE on each card, ready in
# less than a minute, and no route to other hosts. RDMA works over both cards.
#
# module: none
# nics: 2
# timeout: 60
# lanes: uml qemu
# needs: plain
# tags: rdma
# fabric: roce -- rxe: it looks at the lab's soft RoCE devices
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"

# gids N: type, card and value of the GIDs of rxeN. Most of the table's 1024 entries are empty.
gids() {
	local d=/sys/class/infiniband/rxe$1/ports/1 i type
	# Empty entries cannot be read: grep's exit status is 2.
	{ grep -s . "$d"/gid_attrs/types/* || :; } | while IFS=: read -r i type; do
		echo "$type, $(<"$d/gid_attrs/ndevs/${i##*/}"), $(<"$d/gids/${i##*/}")"
	done
}

common() {
	local n mapped up all
	eq "RDMA links that are active" "$(rdma link | grep -c 'state ACTIVE physical_state LINK_UP')" 2
	for n in 0 1; do
		check "eth$n: MTU of at least 4300" test "$(<"/sys/class/net/eth$n/mtu")" -ge 4300
		eq "rxe$n: path MTU" "$(ibv_devinfo -d "rxe$n" -i 1 | awk '$1 == "active_mtu:" { print $2 }')" 4096
		printf -v mapped '0000:0000:0000:0000:0000:ffff:0a4d:%02x%02x' "$n" "$ID"
		all=$(gids "$n")
		echo "$all"
		check "rxe$n: a RoCEv2 GID is the IPv4 address" grep -qx "RoCE v2, eth$n, $mapped" <<< "$all"
		eq "rxe$n: GIDs of RoCEv1" "$(grep -c 'RoCE v1' <<< "$all" || :)" 0
	done
	read -r _ up < "$OUT/ready$ID"
	check "ready after $up s, less than 60" test "${up%.*}" -lt 60
	eq "no default route" "$(ip route show default; ip -6 route show default)" ""
}

server() {
	local n
	common
	for n in 0 1; do
		rdma_server rc_min 7471
		mark "ready$n"
		rdma_served rc_min
	done
}

client() {
	local n
	common
	for n in 0 1; do
		await "ready$n"
		rdma_client rc_min "$(peer "$n")" 7471
	done
}
