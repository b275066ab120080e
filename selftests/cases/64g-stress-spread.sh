# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# 16 connections that send as much as they can in both directions, and two links: both carry it.
# The shares are those of the bytes that each link of a host has written, by its own counters.
#
# covers: LG-46
# nics: 2/2
# timeout: 120
# tags: lgr links stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

CONNS=16
LEAST=35	# percent

_links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"? and .state? == \"rts\")] | $1"; }
_two() { [ "$(_links length)" = 2 ]; }
_open() { [ "$(($(counter conn-created) - $(counter conn-freed)))" = $CONNS ]; }
# bytes that each link has written, one a line, and what they are
_bytes() { _links 'sort_by(."link-num") | .[] | ."tx-bytes"'; }
_sent() {
	mapfile -t is < <(_bytes)
	sum=$((is[0] + is[1] - was[0] - was[1]))
	[ $sum -ge $((128 / DEAR << 20)) ]
}

both() {
	local load was=() is=() sum part n
	fast max_links=2
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=$CONNS par=$CONNS until="$CASEDIR/enough"
		load=$BG
		poll 10 listening 5000
		mark ready
	else
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=$CONNS par=$CONNS until="$CASEDIR/enough"
		load=$BG
	fi
	check "all connections are open" eventually 20 _open
	check "two links" eventually 20 _two
	barrier begin
	mapfile -t was < <(_bytes)
	check "$((128 / DEAR)) MiB are sent" eventually 60 _sent
	barrier seen 60
	touch "$CASEDIR/enough"
	check "no error and no wrong byte" wait "$load"
	smc_was "$ROLE" $CONNS $CONNS
	echo "$((sum >> 20)) MiB"
	for n in 0 1; do
		part=$((sum > 0 ? 1000 * (is[n] - was[n]) / sum : 0))
		check "link $((n + 1)) carries $((part / 10)).$((part % 10)) % of it, at least $LEAST" test $part -ge $((LEAST * 10))
	done
}
server() { both; }
client() { both; }
