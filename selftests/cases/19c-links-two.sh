# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two cards on each host: a link group gets a second, symmetric link, connections are
# spread over both, and later RMBs are announced for both (RFC 7609 2.2, 3.5.5). Each host
# knows the user ID that the other one has given each link.
#
# covers: LLC-19 LLC-20
# nics: 2/2
# timeout: 60
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"?)] | length"; }
two() { [ "$(links)" = 2 ]; }
active() { [ "$("$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?).status] | unique == ["active"]')" = true ]; }
ids() { "$SMCCTL" -j link | jq -c "[.. | objects | select(.\"link-num\"?)] | sort_by(.\"link-num\") | map([.\"link-num\", .\"$1\", .\"$2\"])"; }

server() {
	fast max_links=2
	smc_reset
	bg "$PROG/stress" server 5000 conns=40 par=8
	poll 10 listening 5000
	mark ready
	check "two links" eventually 10 two
	check "both are active" eventually 10 active
	"$SMCCTL" link
	ids user-id peer-user-id > "$CASEDIR/ids"
	mark two
	check "server" wait "$BG"
	smc_was "server" 40 40
}

client() {
	fast max_links=2
	await ready
	smc_reset
	bg "$PROG/stress" client "$PEER" 5000 conns=40 par=8 max=200000 ends=chsb
	check "two links" eventually 10 two
	await two
	check "both are active" eventually 10 active
	eq "user IDs of each link" "$(ids peer-user-id user-id)" "$(<"$CASEDIR/ids")"
	check "client" wait "$BG"
	"$SMCCTL" link
	smc_was "client" 40 40
}
