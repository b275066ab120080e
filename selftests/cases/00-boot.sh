# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The lab itself: both guests reach each other over every card, soft RoCE is active, and
# user-space verbs work between them. Needs no module of this project.
#
# module: none
# timeout: 60
# tags: smoke lab

active() { rdma link show "$(rnic "$1")/1" | grep -q 'state ACTIVE'; }

common() {
	local n
	for ((n = 0; n < NICS; n++)); do
		check "ping $(peer "$n")" ping -q -c1 -W2 "$(peer "$n")"
		check "ping $(peer6 "$n")" ping -q -c1 -W2 "$(peer6 "$n")"
		check "the RDMA device on eth$n is active" active "$n"
	done
	check "large MTU" test "$(</sys/class/net/eth0/mtu)" -ge 4300
}

server() {
	common
	# -e: sleep for completions. Polling starves soft RoCE on one CPU.
	bg ibv_rc_pingpong -e -d "$(rnic 0)" -g 1 -n 50
	poll 10 listening 18515
	mark ready
	check "ibv_rc_pingpong, server" wait "$BG"
}

client() {
	common
	await ready
	check "ibv_rc_pingpong, client" ibv_rc_pingpong -e -d "$(rnic 0)" -g 1 -n 50 "$PEER"
}
