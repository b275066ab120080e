# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As 29n, in a group with two links: a connection whose socket lock a thread in a page
# fault holds cannot move to the other link. It is aborted, and the device of its link is
# removed in time; another connection of the group goes on. While the thread hangs TCP is
# not reset: the peer is notified by A, over the other link.
#
# covers: MISC-16 CONN-23
# nics: 2/2
# timeout: 120
# tags: lgr links vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"

KINDS=(recv send getfilter)

two_links() { [ "$("$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?)] | length')" = 2 ]; }
# its card: that of the connection with port 6000
card() {
	local n dev
	dev=$("$SMCCTL" -j conn | jq -r '.. | objects | select(."peer-port"? == 6000) | ."dev-name"')
	for n in 0 1; do [ "$(rnic $n)" != "$dev" ] || echo $n; done
}

server() {
	local kind card n=0 calls=()
	stuck_begin
	for kind in "${KINDS[@]}"; do calls+=("await:gone.$kind" send:5 recv:5 "mark:went.$kind"); done
	await listens
	bg "$PROG/sockcmd" limit:100 socket "connect:$PEER:5000" send:5 recv:5 "${calls[@]}" close
	n=$BG
	for kind in "${KINDS[@]}"; do
		check "$kind: two links" eventually 20 two_links
		stuck "$kind"
		card=$(card)
		stuck_remove "$kind" "$card"
		mark "gone.$kind"
		await "went.$kind"
		await "ended.$kind"	# before the thread is killed, which resets TCP
		stuck_over "$kind" "$card"
	done
	check "the other connection goes on" wait "$n"
	eq "one connection each was lost" "$(smc_sum conn-move-failed)" ${#KINDS[@]}
	stuck_end
}

# while the thread hangs nothing comes by TCP
stuck_peer() {
	await "gone.$1" 90
	check "$1: the peer learns that the connection has ended" eventually 5 gone "$BG"
	mark "ended.$1"
}

client() {
	local kind calls=()
	for kind in "${KINDS[@]}"; do calls+=(recv:5 send:5); done
	bg "$PROG/sockcmd" limit:100 socket listen:5000 mark:listens slot:1 accept:0 recv:5 send:5 "${calls[@]}" recv:1=eof close
	for kind in "${KINDS[@]}"; do stuck_serve "$kind"; done
	check "nothing is left of those that were lost" eventually 20 smc_idle
}
