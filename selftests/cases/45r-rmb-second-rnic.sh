# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RNIC of a group's second link registers fewer pages than that of the first. RMBs that
# are added later fit both: all connections use SMC-R, and both links stay. Without the second
# link's limit each further RMB would be given up, and with it the connections that need it.
#
# covers: RMB-11
# nics: 2/2
# timeout: 60
# tags: rmb links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

PARAM=/sys/module/rnicsim/parameters/page_list
N=12

usable() { rdma link show "$(rnic 1)/1" | grep -q 'state ACTIVE'; }

# pages N: the server's second RNIC registers N pages at most
pages() {
	local old
	old=$(<$PARAM)
	rnic_delete 1
	echo "$1" > $PARAM
	rnic_add 1
	poll 10 usable
	echo "$old" > $PARAM
}

# calls OPEN...: N connections, of which the first one waits for the second link
calls() {
	local i
	CALLS=(slot:1 "$@" "mark:first$ID" await:linked)
	for ((i = 2; i <= N; i++)); do CALLS+=("slot:$i" "$@"); done
	CALLS+=("mark:all$ID" await:seen)
	for ((i = 1; i <= N; i++)); do CALLS+=("slot:$i" send:100000 recv:100000 send:1 recv:1 close); done
}

both() {
	await "first$ID"
	check "$ROLE: two links" eventually 20 have 2
	barrier links
	[ "$ROLE" = client ] || mark linked
	await "all$ID" 20
	smc_was "$ROLE" $N $N
	check "$ROLE: two links at the end" have 2
	eq "$ROLE: links that failed" "$(counter link-down)" 0
	barrier counted
	[ "$ROLE" = client ] || mark seen
	check "$ROLE: program" wait "$_prog"
	barrier over
}

server() {
	[ "$FABRIC" = sim ] || skip "no simulated RNIC"
	pages 64
	fast max_links=2 rmem=65536 t_lgr_idle=60000
	smc_reset
	calls accept:0
	bg "$PROG/sockcmd" limit:40 socket listen:5000:8 mark:up "${CALLS[@]}"
	_prog=$BG
	both
	pages "$(<$PARAM)"
}

client() {
	[ "$FABRIC" = sim ] || skip "no simulated RNIC"
	fast max_links=2 rmem=65536 t_lgr_idle=60000
	smc_reset
	calls socket "connect:$PEER:5000"
	await up 20
	bg "$PROG/sockcmd" limit:40 "${CALLS[@]}"
	_prog=$BG
	both
}
