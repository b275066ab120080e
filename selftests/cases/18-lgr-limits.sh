# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link group with many connections that begin all at once, the first one included: one
# queue pair serves all of them, and no receiver is not ready. When the group may have no
# more memory regions a parallel group takes the rest.
#
# covers: CLC-68 CLC-69 LG-17 LG-51 LLC-11 RMB-03
# timeout: 90
# lanes: uml qemu
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

N=$((300 / DEAR))
qps() { rdma resource show qp link "$(rnic 0)" | grep -c smcr || :; }
# answers "receiver not ready", sent or got
rnr() {
	if [ "$FABRIC" = sim ]; then awk '$1 == "rnr_naks" { print $2 }' "/sys/kernel/debug/rnicsim/$(rnic 0)/stats"; return; fi
	cat "/sys/class/infiniband/$(rnic 0)"/ports/1/hw_counters/{rcvd,send}_rnr_err | awk '{ n += $1 } END { print n }'
}

# at most one batch of receives is missing
posted_again() {
	check "receives are posted again" test "$("$SMCCTL" -j link | jq '[.. | objects | ."rq-missing"? // empty] | max')" -le 16
}

server() {
	local i open=() first ack first_llc downs
	first=$(rnr)
	# enough time for a Decline that is lost twice on TCP (RTO of a second) after
	# seven unanswered attempts of the adapter
	ack=$((7 * (4096 << $(</proc/sys/net/smcr/qp_timeout)) / 1000000))
	first_llc=$(</proc/sys/net/smcr/t_llc_first)
	check "T_LLC_FIRST ($first_llc ms) is longer than a late Decline takes ($ack + 3000 ms)" \
		test "$first_llc" -gt $((ack + 3000))
	check "more than 255 memory regions are not to be had" bash -c "! echo 256 2>/dev/null > /proc/sys/net/smcr/max_rmbs_per_lgr"
	# 4 and 8 elements of this size; a third RMB would have 16
	fast rmem=65536 max_rmbs_per_lgr=2 t_lgr_idle=500
	for i in {1..20}; do open+=("slot:$i" accept:0 recv:1000 send:2000); done
	open+=(await:all)
	for i in {1..20}; do open+=("slot:$i" recv:1=eof close); done
	smc_reset
	bg "$PROG/sockcmd" limit:30 slot:0 socket listen:5002 mark:up0 "${open[@]}"
	i=$BG
	check "twenty connections: server" wait "$i"
	eq "all of them used SMC-R" "$(smc_servers) $(smc_fallbacks)" "20 0"
	eq "twelve elements in a group" "$(smc_sum server-first-contacts) $(smc_sum lgr-created)" "2 2"
	ended() { [ "$(smc_sum lgr-freed)" = 2 ]; }
	check "the groups end" eventually 10 ended
	# a busy machine may need more than the usual 4 s for the memory of a hundred
	fast rmem=131072 max_rmbs_per_lgr=255 t_lgr_idle=60000 t_llc=20000
	smc_reset
	bg "$PROG/stress" server 5000 conns=100 par=100
	poll 10 listening 5000
	mark up1
	check "a hundred at once: server" wait "$BG"
	smc_was "a hundred at once" 100 100
	eq "one first contact" "$(smc_sum server-first-contacts) $(smc_sum lgr-created)" "3 3"
	bg "$PROG/stress" server 5000 conns=$N par=$N
	poll 10 listening 5000
	downs=$(smc_sum link-down)	# that of the first group, whose idle end may be one
	mark up2
	await open 60
	eq "$N connections: one queue pair" "$(qps)" 1
	posted_again
	mark seen
	check "$N connections: server" wait "$BG"
	eq "still one queue pair" "$(qps)" 1
	eq "no link failed" "$(($(smc_sum link-down) - downs))" 0
	# under load a completion may wait longer than the queue is deep
	check "hardly a receiver that was not ready ($(($(rnr) - first)))" test $(($(rnr) - first)) -le 2

}

client() {
	local i open=()
	await up0
	for i in {1..20}; do open+=("slot:$i" socket "connect:$PEER:5002" send:1000 recv:2000); done
	open+=(mark:all)
	for i in {1..20}; do open+=("slot:$i" close); done
	check "twenty connections: client" "$PROG/sockcmd" limit:30 "${open[@]}"
	await up1
	fast t_llc=20000
	smc_reset
	check "a hundred at once: client" "$PROG/stress" client "$PEER" 5000 conns=100 par=100 ends=c
	smc_was "a hundred at once" 100 100
	eq "one first contact" "$(smc_sum client-first-contacts) $(smc_sum lgr-created)" "3 3"
	await up2
	bg "$PROG/stress" client "$PEER" 5000 conns=$N gate="$CASEDIR/gate" idle=$((30000 * SLOW)) ends=c
	local p=$BG
	is_open() { grep -q "^open $N" "$CASEDIR/client-bg1.log"; }
	poll 40 is_open || fail "not all are open"
	eq "$N connections: one queue pair" "$(qps)" 1
	posted_again
	mark open
	await seen
	touch "$CASEDIR/gate.use" "$CASEDIR/gate.close"
	check "$N connections: client" wait "$p"
}
