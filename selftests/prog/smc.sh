# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases that run programs over the module: did the connections really use
# SMC-R? Sourced after case.sh.

# smc_read: reads all counters, for smc_value, with a single program: on the debug
# kernel starting one takes as long as a connection.
smc_read() { _smc_text=$'\n'$("$SMCCTL" stats) || fail "smcctl stats failed"; }

# smc_value NAME...: the sum of these counters and reasons, in $_smc_sum. 0 for those
# that are not there.
smc_value() {
	local name
	_smc_sum=0
	for name; do
		if [[ $_smc_text =~ $'\n'"$name "\ *([0-9]+) ]]; then _smc_sum=$((_smc_sum + BASH_REMATCH[1])); fi
	done
}

# smc_stats: "NAME VALUE" of every counter and reason that is not zero.
smc_stats() { "$SMCCTL" stats | awk '$2 ~ /^[0-9]+$/ { print $1, $2 }'; }

# smc_sum NAME...: the sum of these counters. 0 for those that are not there.
smc_sum() {
	local _smc_text _smc_sum
	smc_read
	smc_value "$@"
	echo "$_smc_sum"
}

smc_clients() { smc_sum client-first-contacts client-reuses; }
smc_servers() { smc_sum server-first-contacts server-reuses; }
smc_fallbacks() { smc_sum client-fallbacks server-fallbacks; }

# _smc_since: connections and fallbacks, in $_smc_n and $_smc_f, after smc_reset
_smc_since() {
	smc_read
	smc_value client-first-contacts client-reuses server-first-contacts server-reuses
	_smc_n=$((_smc_sum - _smc_conns))
	smc_value client-fallbacks server-fallbacks
	_smc_f=$((_smc_sum - _smc_falls))
}

# smc_reset: from here on count for smc_was and tcp_was.
smc_reset() {
	_smc_conns=0 _smc_falls=0
	_smc_since
	_smc_conns=$_smc_n _smc_falls=$_smc_f
}

# smc_was DESC MIN [MAX [FALLBACKS]]: since smc_reset MIN (to MAX) connections used
# SMC-R on this side, and none (FALLBACKS) fell back.
smc_was() {
	local falls=${4:-0}
	_smc_since
	# under the data race detector a first contact takes longer than the 3 s for which others wait for it
	if [ "$KERNEL" = kcsan ] && [ "$_smc_f" -gt "$falls" ] && [ "$_smc_n" -gt 0 ]; then
		echo "$1: $((_smc_f - falls)) became TCP meanwhile"
		_smc_n=$((_smc_n + _smc_f - falls)) _smc_f=$falls
	fi
	check "$1: SMC-R connections ($_smc_n, wanted $2${3:+ to $3})" test "$_smc_n" -ge "$2" -a "$_smc_n" -le "${3:-${2/#0/999999999}}"
	eq "$1: fallbacks" "$_smc_f" "$falls"
}

# tcp_was DESC N: since smc_reset none used SMC-R and N fell back.
tcp_was() {
	_smc_since
	eq "$1: SMC-R connections" "$_smc_n" 0
	eq "$1: fallbacks" "$_smc_f" "$2"
}

# smc_same NAME NAME: two counters have the same value
smc_same() {
	local _smc_text _smc_sum one
	smc_read
	smc_value "$1"
	one=$_smc_sum
	smc_value "$2"
	[ "$one" = "$_smc_sum" ]
}

# smc_idle: no connection is left, whatever state it was in.
smc_idle() { smc_same conn-created conn-freed; }

# rdma_cut, rdma_mend: nothing that the RNIC on eth0 sends reaches the peer
rdma_cut() {
	if [ "$FABRIC" = sim ]; then echo 1 > "/sys/kernel/debug/rnicsim/$RNIC/paused"; return; fi
	nft "add table inet cut; add chain inet cut out { type filter hook output priority 0 ; }; add rule inet cut out udp dport 4791 drop"
}
rdma_mend() {
	if [ "$FABRIC" = sim ]; then echo 0 > "/sys/kernel/debug/rnicsim/$RNIC/paused"; else nft delete table inet cut; fi
}

# no_group: no link group is left.
no_group() { smc_same lgr-created lgr-freed; }

# macvlan_setup: 10.88.0.$ID on a macvlan with an RDMA device of its own, rxm$ID, in place of
# eth0's. Unlike the guests' cards it can change its MAC while it is up.
macvlan_setup() {
	rnic_delete 0	# it would have the macvlan's GIDs, too
	# eth0 must not answer ARP for it: soft RoCE checks the netdev that a packet comes in by
	sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
	ip link add mv0 link eth0 type macvlan mode bridge
	ip addr add "10.88.0.$ID/24" dev mv0
	ip link set mv0 up
	rdma link add "rxm$ID" type "$RNIC_TYPE" netdev mv0
	poll 10 macvlan_active
	barrier set-up
}
macvlan_active() { rdma link show "rxm$ID/1" | grep -q 'state ACTIVE'; }

# macvlan_mac MAC: give mv0 this MAC, and wait until the device has its GIDs again. The
# default GID is made of the MAC, and is the first that comes again.
macvlan_mac() {
	check "another MAC" ip link set mv0 address "$1"
	check "the GIDs come again" eventually 5 macvlan_gids "$1"
}
macvlan_gids() {
	local m
	IFS=: read -ra m <<< "$1"
	local gids=/sys/class/infiniband/rxm$ID/ports/1/gids first
	first=$(printf 'fe80:0000:0000:0000:%02x%s:%sff:fe%s:%s%s' $((0x${m[0]} ^ 2)) "${m[@]:1}")
	grep -qx "$first" "$gids/0" && grep -qsh "ffff:0a58:$(printf %04x "$ID")$" "$gids"/*
}

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
