# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thousand connections at once, first idle, then used; what one costs.
#
# covers: MISC-08
# timeout: 120
# lanes: uml
# memory: 2048
# tags: stress
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((1000 / DEAR / DEAR))
# KiB without the programs' own pages and threads: what the kernel has given away.
# Pages on the list of a CPU are free, although MemFree has not got them, and the
# server has a thread for each connection, of 14 KiB without its stack.
used() {
	awk '/^MemTotal/ { t = $2 } /^(MemFree|Cached|Buffers|AnonPages|KernelStack|PageTables)/ { t -= $2 }
		/^ *pagesets/ { cpu = 1 } cpu && /^ *count:/ { t -= 4 * $2 }
		/^task_struct / { t -= $3 * $4 / 1024 }
		END { printf "%d\n", t }' /proc/meminfo /proc/zoneinfo /proc/slabinfo
}

# cost WHAT BEFORE MAX: of each of the N connections, in KiB
cost() {
	local each=$((($(used) - $2) / N))
	# as many RMBs as the elements need, however many of them were asked for at once
	"$SMCCTL" -j rmb | jq -c '[.. | objects | select(has("elements"))] | { rmbs: length, elements: (map(.elements) | add), used: (map(.used) | add) }'
	echo "$ROLE: $each KiB for each $1 connection"
	check "each $1 connection costs at most $3 KiB ($each)" test $each -le "$3"
}

# An element of 256 KiB, and an eighth of all that is kept in reserve (rmb.c);
# from the first send on the first 16 KiB of a send buffer. Two sockets, a file,
# the last RMB that is mostly empty. KASAN pads every object.
IDLE=$((256 * 8 / 7 + 24 * DEAR)) USED=$((256 * 8 / 7 + 16 + 24 * DEAR))
# In the simulation the other host is in the same kernel, and each RNIC has a copy of all that is mapped.
[ "$FABRIC" != sim ] || IDLE=$((IDLE * 4)) USED=$((USED * 4))

server() {
	local before
	smc_reset
	bg "$PROG/stress" server 5000 conns=$N par=$N idle=$((90000 * SLOW))
	poll 10 listening 5000
	before=$(used)
	mark ready
	await open 80
	cost idle "$before" $IDLE
	barrier idle
	await used 40
	cost used "$before" $USED
	barrier used
	check "server" wait "$BG"
	smc_was "server" $N $N
	check "every connection is released" eventually 10 smc_idle
}

client() {
	local before
	await ready
	smc_reset
	before=$(used)
	bg "$PROG/stress" client "$PEER" 5000 conns=$N gate="$CASEDIR/gate" idle=$((90000 * SLOW))
	said() { grep -q "^$1 $N" "$CASEDIR/client-bg1.log"; }
	poll 70 said open || fail "only $(smc_clients) connections"
	mark open
	cost idle "$before" $IDLE
	barrier idle
	touch "$CASEDIR/gate.use"
	poll 40 said used || fail "not every connection can be used"
	mark used
	cost used "$before" $USED
	barrier used
	touch "$CASEDIR/gate.close"
	check "client" wait "$BG"
	smc_was "client" $N $N
	check "every connection is released" eventually 10 smc_idle
}
