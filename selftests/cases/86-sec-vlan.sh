# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# VLANs: a group is in the VLAN of its connections, and in no other, although peer and
# RNIC are the same; RoCE frames carry its tag. IPv4 and IPv6 of one VLAN share a group. A
# host that leaves the VLAN has no group in it any more and gets none. smcctl shows the
# same groups on both hosts.
#
# covers: CLC-24 SEC-01 LG-16 MISC-15
# timeout: 60
# lanes: uml qemu
# fabric: roce -- packets: it reads RoCE frames
# tags: lgr sec wire
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

# vlan ID: eth0.ID, addresses 10.77.(100+ID).x and fd77:(100+ID)::x
vlan() {
	ip link add link eth0 name "eth0.$1" mtu $(($(</sys/class/net/eth0/mtu) - 4)) type vlan id "$1"
	ip link set "eth0.$1" up
	ip addr add "$(me $((100 + $1)))/24" dev "eth0.$1"
	ip addr add "$(me6 $((100 + $1)))/64" dev "eth0.$1" nodad
	poll 10 has_gid "$(me $((100 + $1)))" || fail "no GID for VLAN $1"
}
has_gid() {
	local hex a
	IFS=. read -ra a <<< "$1"
	hex=$(printf '%02x%02x:%02x%02x' "${a[@]}")
	grep -q ":ffff:$hex" "/sys/class/infiniband/$(rnic 0)"/ports/1/gids/* 2> /dev/null
}
# frames NAME VLAN: RoCE with data in this VLAN, 0 = untagged. Control messages of
# other groups may come at any time.
frames() {
	tcpdump -r "$CASEDIR/$1.pcap" -n -e 'greater 200' 2> /dev/null | grep -F .4791: |
		if [ "$2" = 0 ]; then grep -vc 'vlan [0-9]'; else grep -c "vlan $2,"; fi || :
}
# groups: VLAN, links' user IDs (the smaller one first), in order
groups() {
	"$SMCCTL" -ja link | jq -r '.[] | [([."user-id", ."peer-user-id"] | sort | join(" ")), .state] | join(" ")' | sort
}

# srv NAME PORT, clt NAME PORT HOST VLAN
srv() {
	bg "$PROG/xfer" server "$2" send=50k recv=30k
	local pid=$BG
	poll 10 listening "$2"
	mark "up.$1"
	check "$1: server" wait "$pid"
}
clt() {
	await "up.$1" 40
	tcpdump --immediate-mode -B 16384 -i eth0 -n -s 200 -U -w "$CASEDIR/$1.pcap" > "$CASEDIR/$1.dump" 2>&1 &
	local dump=$! v
	poll 10 grep -q 'listening on' "$CASEDIR/$1.dump" || fail "tcpdump does not start"
	check "$1: client" "$PROG/xfer" client "$3" "$2" send=30k recv=50k
	nap 0.3; kill -INT $dump; wait $dump || :
	for v in 0 10 20; do
		if [ "$v" = "$4" ]; then
			check "$1: RoCE frames in VLAN $v ($(frames "$1" "$v"))" test "$(frames "$1" "$v")" -gt 15
		else
			eq "$1: RoCE frames in VLAN $v" "$(frames "$1" "$v")" 0
		fi
	done
}

server() {
	modprobe 8021q || skip "no VLANs"
	# a peer that is gone is noticed by TEST LINK
	fast t_testlink=1500 t_llc=1000
	vlan 10
	vlan 20
	mark vlans
	smc_reset
	srv none 5000
	srv ten 5010
	srv twenty 5020
	srv none-again 5000
	srv ten-again 5010
	srv ten-six 5010
	srv twenty-again 5020
	smc_was "all of them" 7 7
	eq "groups" "$(smc_sum server-first-contacts) $(smc_sum server-reuses)" "3 4"
	"$SMCCTL" -ja lgr > "$CASEDIR/lgr1.json"
	eq "their VLANs" "$(jq -c '[.[] | .vlan // 0] | sort' "$CASEDIR/lgr1.json")" "[0,10,20]"
	mark links "$(groups | tr '\n' ';')"
	await gone
	poll 20 left_alone || "$SMCCTL" -a lgr
	eq "the group in the VLAN that the peer left has ended" \
		"$("$SMCCTL" -ja lgr | jq -c '[.[] | select(."state" == "active") | (.vlan // 0)] | sort')" "[0,10]"
	srv without 5000
	mark end
}
left_alone() { [ "$("$SMCCTL" -ja lgr | jq '[.[] | select(.state == "active")] | length')" = 2 ]; }

client() {
	modprobe 8021q || skip "no VLANs"
	vlan 10
	vlan 20
	await vlans
	smc_reset
	clt none 5000 "$PEER" 0
	clt ten 5010 "$(peer 110)" 10
	clt twenty 5020 "$(peer 120)" 20
	clt none-again 5000 "$PEER" 0
	clt ten-again 5010 "$(peer 110)" 10
	clt ten-six 5010 "$(peer6 110)" 10
	clt twenty-again 5020 "$(peer 120)" 20
	smc_was "all of them" 7 7
	eq "groups" "$(smc_sum client-first-contacts) $(smc_sum client-reuses)" "3 4"
	"$SMCCTL" -ja lgr > "$CASEDIR/lgr2.json"
	"$SMCCTL" -a link
	eq "their VLANs" "$(jq -c '[.[] | .vlan // 0] | sort' "$CASEDIR/lgr2.json")" "[0,10,20]"
	await links
	eq "links are the same on both hosts, by user ID" "$(groups | tr '\n' ';')" "$MARK"
	# out of VLAN 20
	ip link delete eth0.20
	check "no way into VLAN 20" bash -c "! timeout 5 '$PROG/xfer' client $(peer 120) 5020 send=30k recv=50k"
	mark gone
	clt without 5000 "$PEER" 0
	await end
}
