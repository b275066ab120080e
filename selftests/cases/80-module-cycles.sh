# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A hundred times (six in the debug lane): load, traffic, rmmod while it runs. rmmod of a
# module in use is refused without an effect. Then one side's program is killed and its
# module unloaded at once, while the other side still sends: that side gets an error or
# the end, and unloads as well. A client that asks for the end of the group stays until
# the server has answered (LG-41), so that neither side waits for the ACK timeout of a
# queue pair whose peer is gone.
#
# covers: MISC-20
# module: none
# timeout: 300
# lanes: uml
# tags: lifecycle stress
# fabric: roce -- kernel: each host loads and unloads the module
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((SLOW > 1 ? 6 : 100))

gone_smcr() { rmmod smcr 2> "$CASEDIR/rmmod.$ROLE" || [ ! -d /sys/module/smcr ]; }
refused() { ! rmmod smcr 2> "$CASEDIR/refused.$ROLE"; }

# ending I PID: traffic runs and rmmod was refused on both sides
ending() {
	local i=$1 pid=$2 begin rc=0
	barrier "busy$i" 30
	if [ $((i % 2)) = $((ID % 2)) ]; then
		kill -KILL "$pid"
		passes "round $i: rmmod beside the peer's traffic" eventually 10 gone_smcr || fail "round $i: $(<"$CASEDIR/rmmod.$ROLE")"
		wait "$pid" 2>/dev/null || :
	else
		poll 15 gone "$pid" || fail "round $i: $ROLE does not learn of the peer's end"
		wait "$pid" || rc=$?
		[ $rc = 0 ] || check "round $i: the end of the survivor ($rc)" false
		begin=$(now)
		passes "round $i: rmmod" eventually 10 gone_smcr || fail "round $i: $(<"$CASEDIR/rmmod.$ROLE")"
		begin=$(($(now) - begin))
		[ $begin -le $slowest ] || slowest=$begin
	fi
	barrier "round$i" 30
}

over() {
	echo "$N rounds"
	check "no rmmod after the peer's took long (slowest $slowest ms)" test $slowest -lt $((3000 * SLOW))
}

server() {
	local i a b slowest=0
	for ((i = 0; i < N; i++)); do
		load_smcr
		bg "$PROG/xfer" server 5000 send=100k recv=100k conns=2 par=2
		a=$BG
		bg "$PROG/xfer" server 5001 endless=1 idle=$((10000 * SLOW))
		b=$BG
		poll 10 listening 5000
		poll 10 listening 5001
		mark "up$i"
		wait "$a" || check "round $i: server" false
		await "moves$i" 30
		refused || check "round $i: rmmod is refused while connections are open" false
		ending $i "$b"
	done
	over
}

client() {
	local i b slowest=0
	for ((i = 0; i < N; i++)); do
		load_smcr
		await "up$i" 30
		"$PROG/xfer" client "$PEER" 5000 send=100k recv=100k conns=2 par=2 ||
			check "round $i: client" false
		bg "$PROG/xfer" client "$PEER" 5001 endless=1 idle=$((10000 * SLOW))
		b=$BG
		moving() { [ "$(smc_sum bytes-rx)" -gt 400000 ]; }
		poll 20 moving || fail "round $i: nothing moves"
		mark "moves$i"
		refused || check "round $i: rmmod is refused while connections are open" false
		[ "$(smc_clients) $(smc_fallbacks)" = "3 0" ] || check "round $i: three SMC-R connections" false
		ending $i "$b"
	done
	over
}
