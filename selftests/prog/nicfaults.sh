# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a card is lost and comes back: . "$PROG/nicfaults.sh"
# N is a card of this host, M one of the peer's. Faults of a cable need a LAN
# (`# nics: S/C`): the cable is between the card and its port of the switch.
#
#	cable_cut N, cable_mend N	no carrier on either end
#	netdev_down N, netdev_up N	ip link set ethN down, up
#	rnic_delete N, rnic_add N	(case.sh) rdma link delete, add
#	rnic_pulled N			its driver removes it; undone by rnic_add N
#	port_down N, port_up N		the port of the RNIC alone; soft RoCE: the cable
#	gid_change N, gid_back N	ethN has $(me_new N) and $(me6_new N) instead
#	silence N, hear N		nothing passes the cable, with carrier at both ends
#	rdma_silence N, rdma_hear N	the same for RoCE alone: TCP goes on
#	path_cut N M, path_mend N M	the same for RoCE between these two cards alone
#	lossy N PPM			so many of a million RoCE packets that N sends are
#					lost; 0: none
#	lost N				number of packets lost so
# In the simulation, for messages that N sends, of TYPE (msg_TYPE in Documentation/rnicsim.rst,
# such as test_link_reply, cdc, any):
#	msg_fault N TYPE WHEN [ACTION [ARG]]	for example 2 drop: the second one from now
#	msg_faults N TYPE		number of faults that have happened
# On a LAN, in any lane, a relay between the two hosts for TCP connections, and so for CLC:
#	clc_relay PORT TO [FAULT...]	on the server: what connects to $RELAY, PORT is relayed
#				to port TO of this host, with the FAULTs of clcrelay.c
#				(proposal:1:drop); log in $CASEDIR/relay.PORT
#	clc_relay_end		removes the relay's host
RELAY=10.77.0.91

_switch() {
	[ -n "$LAN" ] || fail "a cable needs '# nics: S/C'"
	if [ "$FABRIC" = sim ]; then nsenter --net=/run/smcr/net "$@"; else ip netns exec lan "$@"; fi
}
_sim() { echo "/sys/kernel/debug/rnicsim/$(rnic "$1")"; }
_is_sim() { [ "$FABRIC" = sim ]; }

cable_cut() { _switch ip link set "p$1$ID" down; }
cable_mend() { _switch ip link set "p$1$ID" up; }

netdev_down() { ip link set "eth$1" down; }
netdev_up() {
	ip link set "eth$1" up
	nic_address "$1"
}

rnic_pulled() {
	if ! _is_sim; then rnic_delete "$1"; return; fi
	echo remove > "$(_sim "$1")/act"
	poll 5 test ! -e "/sys/class/infiniband/$(rnic "$1")"
}

port_down() { if _is_sim; then echo port_err > "$(_sim "$1")/act"; else cable_cut "$1"; fi; }
port_up() { if _is_sim; then echo port_active > "$(_sim "$1")/act"; else cable_mend "$1"; fi; }

me_new() { local a; a=$(me "$1"); echo "${a%.*}.$((${a##*.} + 100))"; }
me6_new() { echo "$(me6 "$1")00"; }
_other_address() {
	ip addr del "$2/24" dev "eth$1"
	ip addr del "$3/64" dev "eth$1"
	nic_address "$1" "$4" "$5"
}
gid_change() { _other_address "$1" "$(me "$1")" "$(me6 "$1")" "$(me_new "$1")" "$(me6_new "$1")"; }
gid_back() { _other_address "$1" "$(me_new "$1")" "$(me6_new "$1")" "$(me "$1")" "$(me6 "$1")"; }

# The RNICs of the simulation use no cable: one on a fabric of its own reaches no other.
silence() {
	_switch ip link set "p$1$ID" nomaster
	! _is_sim || rdma_silence "$1"
}
hear() {
	_switch ip link set "p$1$ID" master lan
	! _is_sim || rdma_hear "$1"
}

# _drop NAME OUT IN: RoCE packets that these rules match are lost
_drop() {
	nft "add table inet $1; flush table inet $1
		add chain inet $1 out { type filter hook output priority 0; }
		add chain inet $1 in { type filter hook input priority 0; }"
	nft "add rule inet $1 out udp dport 4791 $2 counter drop; add rule inet $1 in udp dport 4791 $3 counter drop"
}
rdma_silence() {
	if _is_sim; then echo $((1000 + 10 * $1 + ID)) > "$(_sim "$1")/fabric"; else _drop "rdma$1" "oifname eth$1" "iifname eth$1"; fi
}
rdma_hear() {
	if _is_sim; then cat /sys/module/rnicsim/parameters/fabric > "$(_sim "$1")/fabric"; else nft delete table inet "rdma$1"; fi
}

path_cut() {
	if _is_sim; then echo "+sim$2$PEER_ID" > "$(_sim "$1")/cut"; return; fi
	local a a6
	a=$(peer "$2") a6="{ $(peer6 "$2"), fe80::5054:ff:fe00:${2}0$PEER_ID }"
	_drop "path$1$2" "oifname eth$1 ip daddr $a" "iifname eth$1 ip saddr $a"
	nft "add rule inet path$1$2 out oifname eth$1 udp dport 4791 ip6 daddr $a6 counter drop
		add rule inet path$1$2 in iifname eth$1 udp dport 4791 ip6 saddr $a6 counter drop"
}
path_mend() {
	if _is_sim; then echo "-sim$2$PEER_ID" > "$(_sim "$1")/cut"; else nft delete table inet "path$1$2"; fi
}

lossy() {
	local p some="numgen random mod 1000000 < $2"
	if _is_sim; then
		for p in tx_write tx_mid tx_send tx_ack; do echo "p$2 drop" > "$(_sim "$1")/fault/$p"; done
		return
	fi
	nft "add table inet lossy$1; delete table inet lossy$1"
	[ "$2" != 0 ] || return 0
	[ "$2" != 1000000 ] || some=""
	nft "add table inet lossy$1; add chain inet lossy$1 out { type filter hook output priority 0; }
		add rule inet lossy$1 out oifname eth$1 udp dport 4791 $some counter drop"
}

lost() {
	if _is_sim; then
		cat "$(_sim "$1")"/fault/tx_{write,mid,send,ack} | awk '{ n += $NF } END { print n }'
	else
		nft list table inet "lossy$1" | sed -n 's/.*counter packets \([0-9]*\) .*/\1/p'
	fi
}

msg_fault() {
	_is_sim || skip "messages can be hit in the simulation only"
	echo "${*:3}" > "$(_sim "$1")/fault/msg_$2"
}
msg_faults() { sed 's/.*fired //' "$(_sim "$1")/fault/msg_$2"; }

_relay_netns() {
	[ ! -e /run/netns/relay ] || return 0
	ip netns add relay
	ip link add relay0 mtu "$(</sys/class/net/eth0/mtu)" netns relay type veth peer name prelay mtu "$(</sys/class/net/eth0/mtu)"
	if _is_sim; then ip link set prelay netns /run/smcr/net; else ip link set prelay netns lan; fi
	_switch ip link set prelay master lan up
	ip -n relay link set relay0 up
	ip -n relay addr add "$RELAY/24" dev relay0
	poll 5 ping -qc1 -W1 "$RELAY" > /dev/null
}
clc_relay() {
	_synopt
	_relay_netns
	ip netns exec relay "$PROG/clcrelay" "$1" "$ME" "${@:2}" > "$CASEDIR/relay.$1" 2>&1 &
	_relays+=" $!"
	poll 10 ip netns exec relay bash -c ". '$LIB/case.sh'; listening $1" || fail "clcrelay: $(<"$CASEDIR/relay.$1")"
}
_relays=
clc_relay_end() {
	# shellcheck disable=SC2086
	kill $_relays 2> /dev/null || :
	_relays=
	ip netns del relay
}
