# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Both sides end the connection at the same moment: close and close, half-close and
# half-close, reset and close, close with unread data.
#
# An abort may drop what the peer has not read (RFC 7609 4.8.2), and a program that aborts
# with nothing to wait for may do so before the peer has read a byte: such losses are
# counted, and nothing else may be missing.
#
# covers: CONN-18 CONN-29 CONN-30 CONN-20
# timeout: 240
# lanes: uml
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1500 / DEAR / DEAR))

over() {
	check "every connection is released" eventually 10 smc_idle
	eq "connections that needed a timer" "$(smc_sum timer-close timer-abort)" 0
}

# word NAME FILE: the number behind NAME in stress's last line
word() { grep -o "$1 [0-9]*" "$2" | tail -n 1 | cut -d' ' -f2; }

# An element whose end the peer did not confirm is out of use for T_ABORT: small
# ones, so that a thousand of them fit into the guest.
small() { sysctl -qw net.smcr.rmem=16384; }

server() {
	local unseen
	small
	smc_reset
	bg "$PROG/stress" server 5000 conns=$((4 * N)) par=8
	poll 10 listening 5000
	mark ready
	check "server" wait "$BG"
	smc_was "server" $((4 * N)) $((4 * N))
	await unanswered 60
	unseen=$(word unseen "$CASEDIR/server-bg1.log")
	check "only aborts that awaited nothing went before their first data ($unseen of $MARK)" \
		test "$unseen" -le "$MARK"
	over
}

all() {
	local rc=0
	"$PROG/stress" client "$PEER" 5000 conns=$N par=8 max=200 ends="$1" > "$CASEDIR/end.$1" 2>&1 || rc=$?
	tail -n 5 "$CASEDIR/end.$1"
	return $rc
}

client() {
	local end
	small
	await ready
	smc_reset
	for end in b h r u; do
		check "end $end" all $end
	done
	mark unanswered "$(word unanswered "$CASEDIR/end.r")"
	smc_was "client" $((4 * N)) $((4 * N))
	over
}
