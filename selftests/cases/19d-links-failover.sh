# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One of two links is lost in the midst of transfers in both directions: the connections
# go on over the other one, and not one byte is lost (RFC 7609 4.6).
#
# covers: FO-01 FO-09
# nics: 2/2
# timeout: 120
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"?)] | length"; }
timed() { echo $(($(counter conn-moved-10ms) + $(counter conn-moved-100ms) + $(counter conn-moved-1s) + $(counter conn-moved-later))); }
moves() {
	check "connections moved" test "$(counter conn-moved)" -ge 2
	eq "each move has its time" "$(timed)" "$(counter conn-moved)"
	eq "none failed" "$(counter conn-move-failed) $(counter conn-moved-other-link)" "0 0"
	echo "moved: $(counter conn-moved), $(counter conn-moved-10ms) within 10 ms; written again: $(counter bytes-again) bytes"
}
two() { [ "$(links)" = 2 ]; }
# all connections use SMC-R: a handshake in which the link is lost becomes TCP
# (under the data race detector some become TCP before: smc.sh)
all=8
[ "$KERNEL" != kcsan ] || all=4
all_there() { [ "$("smc_${ROLE}s")" -ge $all ]; }

server() {
	fast max_links=2 qp_timeout=13
	smc_reset
	bg "$PROG/xfer" server 5000 conns=8 par=8 send=20m recv=20m
	poll 10 listening 5000
	mark ready
	check "two links" eventually 10 two
	check "all connections" eventually 10 all_there
	mark two
	await cut
	path_cut 1 1
	check "server" wait "$BG"
	smc_was "server" 8 8
	moves
	barrier moved
	again=$(counter bytes-again)
	# there the server's window may be full when the link is lost: then only the client does
	! real_time || again=$((again + $(<"$CASEDIR/again")))
	check "bytes were written again" test "$again" -gt 0
}

client() {
	fast max_links=2 qp_timeout=13
	await ready
	smc_reset
	bg "$PROG/xfer" client "$PEER" 5000 conns=8 par=8 send=20m recv=20m
	check "two links" eventually 10 two
	check "all connections" eventually 10 all_there
	await two
	mark cut
	check "client" wait "$BG"
	"$SMCCTL" link
	smc_was "client" 8 8
	moves
	put "$CASEDIR/again" "$(counter bytes-again)"
	barrier moved
}
