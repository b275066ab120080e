# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases that run programs over the module: did the connections really use
# SMC-R? Sourced after case.sh.

# smc_stats: "NAME VALUE" of every counter and reason that is not zero.
smc_stats() {
	"$SMCCTL" -j stats | jq -r '.. | objects |
		(select(has("name") and has("value")) | "\(.name) \(.value)"),
		(to_entries[] | select(.value | type == "number") | "\(.key) \(.value)")' | sort -u
}

# smc_sum NAME...: the sum of these counters. 0 for those that are not there.
smc_sum() {
	local s
	s=$(smc_stats) || fail "smcctl stats failed"
	awk -v want="$*" 'BEGIN { n = split(want, w); for (i = 1; i <= n; i++) ok[w[i]] = 1 }
		$1 in ok { sum += $2 } END { print sum + 0 }' <<< "$s"
}

smc_clients() { smc_sum client-first-contacts client-reuses; }
smc_servers() { smc_sum server-first-contacts server-reuses; }
smc_fallbacks() { smc_sum client-fallbacks server-fallbacks; }

# smc_reset: from here on count for smc_was and tcp_was.
smc_reset() { _smc_conns=$(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses) _smc_falls=$(smc_fallbacks); }

# smc_was DESC MIN [MAX [FALLBACKS]]: since smc_reset MIN (to MAX) connections used
# SMC-R on this side, and none (FALLBACKS) fell back.
smc_was() {
	local n f
	n=$(($(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses) - _smc_conns))
	f=$(($(smc_fallbacks) - _smc_falls))
	check "$1: SMC-R connections ($n, wanted $2${3:+ to $3})" test "$n" -ge "$2" -a "$n" -le "${3:-${2/#0/999999999}}"
	eq "$1: fallbacks" "$f" "${4:-0}"
}

# tcp_was DESC N: since smc_reset none used SMC-R and N fell back.
tcp_was() {
	local n f
	n=$(($(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses) - _smc_conns))
	f=$(($(smc_fallbacks) - _smc_falls))
	eq "$1: SMC-R connections" "$n" 0
	eq "$1: fallbacks" "$f" "$2"
}

# smc_idle: no connection is left, whatever state it was in.
smc_idle() { [ "$(smc_sum conn-created)" = "$(smc_sum conn-freed)" ]; }

# rdma_cut, rdma_mend: nothing that the RNIC on eth0 says reaches the peer
rdma_cut() {
	if [ "$FABRIC" = sim ]; then echo 1 > "/sys/kernel/debug/rnicsim/$RNIC/paused"; return; fi
	nft "add table inet cut; add chain inet cut out { type filter hook output priority 0 ; }; add rule inet cut out udp dport 4791 drop"
}
rdma_mend() {
	if [ "$FABRIC" = sim ]; then echo 0 > "/sys/kernel/debug/rnicsim/$RNIC/paused"; else nft delete table inet cut; fi
}

# no_group: no link group is left.
no_group() { [ "$(smc_sum lgr-created)" = "$(smc_sum lgr-freed)" ]; }

# macvlan_setup: 10.88.0.$ID on a macvlan of its own with an RDMA device, rxm$ID, in place of
# eth0's. Unlike the guests' cards it changes its MAC while it is up.
macvlan_setup() {
	rnic_delete 0	# it would have the macvlan's GIDs, too
	# nor does eth0 answer for its address: soft RoCE looks at where a packet comes in
	sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
	ip link add mv0 link eth0 type macvlan mode bridge
	ip addr add "10.88.0.$ID/24" dev mv0
	ip link set mv0 up
	rdma link add "rxm$ID" type "$RNIC_TYPE" netdev mv0
	poll 10 macvlan_active
	barrier set-up
}
macvlan_active() { rdma link show "rxm$ID/1" | grep -q 'state ACTIVE'; }

# macvlan_undo: both hosts have their own device again
macvlan_undo() {
	barrier undo
	rdma link delete "rxm$ID"
	ip link del mv0
	rnic_add 0
}

# smc_serve NAME PORT: the server of one connection, up with the mark up.NAME
smc_serve() {
	smc_reset
	bg "$PROG/xfer" server "$2" send=50k recv=30k
	local pid=$BG
	poll 10 listening "$2"
	mark "up.$1"
	check "$1: server" wait "$pid"
}
