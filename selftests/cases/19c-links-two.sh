# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two cards on each host: a link group gets a second, symmetric link, connections are
# spread over both, and later RMBs are announced for both (RFC 7609 2.2, 3.5.5).
#
# nics: 2/2
# timeout: 60
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"?)] | length"; }
two() { [ "$(links)" = 2 ]; }

server() {
	fast max_links=2
	smc_reset
	bg "$PROG/stress" server 5000 conns=40 par=8
	poll 10 listening 5000
	mark ready
	check "two links" eventually 10 two
	"$SMCCTL" link
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
	check "client" wait "$BG"
	"$SMCCTL" link
	smc_was "client" 40 40
}
