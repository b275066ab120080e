# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thousand connections at once, first idle, then used; what an idle one costs.
#
# covers: MISC-08
# timeout: 120
# lanes: uml qemu
# memory: 2048
# tags: stress wip
# wip: has not had an accepted run in the debug lane
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1000 / SLOW))
# Without the readers' own stacks: what the kernel has given away.
used() { awk '/^MemTotal/ { t = $2 } /^(MemFree|Cached|Buffers|AnonPages)/ { t -= $2 } END { print t }' /proc/meminfo; }

server() {
	local before after
	smc_reset
	bg "$PROG/stress" server 5000 conns=$N par=$N
	poll 10 listening 5000
	before=$(used)
	mark ready
	await open 80
	after=$(used)
	echo "server: $(((after - before) / N)) KiB for each idle connection"
	# an element and what the socket needs; the send buffer only when used
	check "an idle connection costs at most 400 KiB ($(((after - before) / N)))" test $((after - before)) -le $((N * 400)) || :
	mark measured
	check "server" wait "$BG"
	smc_was "server" $N $N
	check "every connection is released" eventually 10 smc_idle
}

client() {
	local before after
	await ready
	smc_reset
	before=$(used)
	bg "$PROG/stress" client "$PEER" 5000 conns=$N hold=4000
	is_open() { grep -q "^open $N" "$CASEDIR/client-bg1.log"; }
	poll 70 is_open || fail "only $(smc_clients) connections"
	after=$(used)
	mark open
	echo "client: $(((after - before) / N)) KiB for each idle connection"
	await measured
	check "client" wait "$BG"
	smc_was "client" $N $N
	check "every connection is released" eventually 10 smc_idle
}
