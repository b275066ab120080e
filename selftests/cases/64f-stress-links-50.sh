# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# 50 clients, each with a network namespace and an RNIC of its own, make their first
# contact at the same time, while a server's RNIC is lost and returns again and again:
# links are added and deleted under load, and both ends have RMBs to announce. No
# connection stalls, both ends have the same links, and in the end no group is left (RFC
# 7609 3.5.5.3).
#
# covers: FO-18 FO-24 LG-39
# nics: 2/1
# timeout: 240
# memory: 2048
# tags: lgr links stress nodebug
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=50
CONNS=$((2 * N))

# "OWN-QPN PEER-QPN NUMBER" of all links that are in use, of this namespace
links() {
	"$SMCCTL" -j link | jq -r '.. | objects | select(."link-num"? and .state? == "rts") |
		"\(."qpn") \(."peer-qpn") \(."link-num")"'
}
mine() { links | sort > "$CASEDIR/links.server"; }
same() {
	local i
	mark "look.$1"
	await "links.$1"
	for ((i = 0; i < N; i++)); do
		ip netns exec "c$i" bash -c ". '$CASEDIR/env'; $(declare -f links); links"
	done | awk '{ print $2, $1, $3 }' | sort > "$CASEDIR/links.client"
	cmp -s "$CASEDIR/links.server" "$CASEDIR/links.client"
}
all_open() { [ "$(($(counter conn-created) - $(counter conn-freed)))" -ge $CONNS ]; }
no_group() { [ "$(counter lgr-created)" = "$(counter lgr-freed)" ]; }

server() {
	local i n=0
	[ "$FABRIC" = sim ] || skip "soft RoCE lives in the initial namespace only"
	fast t_lgr_idle=2000 t_rmb_free=500 t_llc=2000 t_testlink=1000 t_link_retry=1000
	smc_reset
	bg "$PROG/xfer" server 5000 conns=$CONNS par=$CONNS wchunk=1:4000 wpause=50 idle=60000 until="$CASEDIR/enough"
	poll 10 listening 5000
	mark ready
	# in the midst of the first contacts
	await going
	for ((i = 0; i < 5; i++)); do
		nap "0.$((i * 7))"
		rnic_delete 1
		nap "0.$((9 - i))"
		rnic_add 1
		nap 1
	done
	check "all connections" eventually 30 all_open
	nap 5
	for ((i = 0; i < 20; i++)); do
		await "look.$i"
		mine
		mark "links.$i"
		await "compared.$i"
		[ "$MARK" = different ] || break
	done
	"$SMCCTL" link | head -8
	echo "links: $(wc -l < "$CASEDIR/links.server"), moved: $(counter conn-moved)"
	check "two links for each client" test "$(wc -l < "$CASEDIR/links.server")" -ge $((2 * N))
	touch "$CASEDIR/enough"
	check "server" wait "$BG"
	smc_was "server" $CONNS $CONNS
	check "no link group is left" eventually 30 no_group
	mark over
}

client() {
	local i pids=() what
	[ "$FABRIC" = sim ] || skip "soft RoCE lives in the initial namespace only"
	declare -p SMCCTL PATH > "$CASEDIR/env"
	await ready
	for ((i = 0; i < N; i++)); do
		ip netns add "c$i"
		ip link add "pc$i" mtu 9000 type veth peer name eth0 mtu 9000 netns "c$i"
		ip link set "pc$i" netns /run/smcr/net
		nsenter --net=/run/smcr/net ip link set "pc$i" master lan up
		ip -n "c$i" link set lo up
		ip -n "c$i" link set eth0 up
		ip -n "c$i" addr add "10.77.0.$((100 + i))/24" dev eth0
		ip netns exec "c$i" rdma link add "simc$i" type rnicsim netdev eth0
	done
	poll 20 ip netns exec "c$((N - 1))" ping -qc1 -W1 "$PEER" > /dev/null
	for ((i = 0; i < N; i++)); do
		ip netns exec "c$i" "$PROG/xfer" client "$PEER" 5000 conns=2 par=2 wchunk=1:4000 wpause=50 idle=60000 \
			rcvbuf=$((16384 << i % 4)) until="$CASEDIR/enough" > "$CASEDIR/xfer.$i" 2>&1 &
		pids+=($!)
	done
	mark going
	for ((i = 0; i < 20; i++)); do
		what=different
		! same "$i" || what=same
		mark "compared.$i" $what
		[ $what = different ] || break
		nap 1
	done
	eq "links of both ends" $what same
	[ $what = same ] || diff "$CASEDIR/links.server" "$CASEDIR/links.client" | head -20 || :
	for ((i = 0; i < N; i++)); do
		wait "${pids[i]}" || check "client $i: $(tail -n1 "$CASEDIR/xfer.$i")" false
	done
	await over 60
	for ((i = 0; i < N; i++)); do
		ip netns del "c$i"
	done
}
