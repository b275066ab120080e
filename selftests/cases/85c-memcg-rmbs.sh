# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RMBs are charged to the memory cgroup of the socket that asked for them, on both sides,
# and to no other; they are uncharged when the group ends. In a full memory cgroup
# connections run over TCP for this reason, at once; those of another one, to the same
# peer and at the same time, get their RMBs and wait neither for it nor for one that is
# throttled (memory.high).
#
# covers: RMB-11 SEC-14
# timeout: 90
# lanes: uml qemu
# tags: lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

CG=/sys/fs/cgroup
N=6
KIB=512

groups() {
	local g
	echo +memory > $CG/cgroup.subtree_control || skip "no memory controller"
	for g in "$@"; do mkdir $CG/"$g"; done
}
current() { echo $(($(<$CG/"$1"/memory.current) / 1024)); }
in_group() {
	echo $BASHPID > $CG/"$1"/cgroup.procs
	exec "${@:2}"
}
# on PORT MODE: connections to this port
on() { "$SMCCTL" -ja conn | jq --argjson p "$1" --arg m "$2" '[.[] | select(.mode == $m and ."peer-port" == $p)] | length'; }

# fill GROUP: it has no room left; what the kernel keeps charged in advance is dropped before
fill() {
	echo 0 > $CG/"$1"/memory.high
	echo max > $CG/"$1"/memory.high
	echo $(($(<$CG/"$1"/memory.current) + 8192)) > $CG/"$1"/memory.max
}

# serves NAME PORT GROUP: N connections, until the end
serves() {
	local i calls=()
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" accept:0 recv:5 send:5); done
	bg in_group "$3" "$PROG/sockcmd" limit:60 slot:0 socket "listen:$2:64" "mark:up.$1" "${calls[@]}" "mark:all.$1" "await:over.$1"
}

server() {
	local i k=0 was before pid
	fast rmem=$((KIB * 1024)) t_rmb_free=500
	groups owner other
	serves owner 5000 owner
	pid=$BG
	await up.owner
	was=$(current owner) before=$(current other)
	mark ready
	await all.owner 40
	echo "server: $(($(current owner) - was)) KiB for $N connections of $KIB KiB"
	check "the listener's cgroup is charged" test $(($(current owner) - was)) -ge $((N * KIB))
	check "no other" test $(($(current other) - before)) -lt $KIB
	await client.charged 40
	mark over.owner
	check "server" wait "$pid"
	check "every connection is released" eventually 20 smc_idle
	for i in $("$SMCCTL" -j linkgroup | jq -r '[.. | objects | ."lgr-id"? // empty] | unique[]'); do
		"$SMCCTL" linkgroup delete "$i"
	done
	given_back() { [ $(($(current owner) - was)) -lt $KIB ]; }
	check "with the group all of it is given back" eventually 20 given_back
	mark clean
	for i in full more free high beside; do serves "$i" "500$((++k))" owner; done
	mark ready2
	await done2 60
	for i in full more free high beside; do mark "over.$i"; done
	wait
}

# dials NAME PORT [CALL...]: N sockets of this memory cgroup, by a program that is outside of it then
dials() {
	local i calls=() within=1500
	[ "$1" != high ] || within=30000
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" socket "${@:3}"); done
	calls+=("mark:made.$1" "await:dial.$1" start)
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" "connect:$PEER:$2" send:5 recv:5); done
	calls+=("elapsed:0:$within" "mark:dialled.$1" "await:over.$1")
	bg in_group "$1" "$PROG/sockcmd" limit:60 "${calls[@]}"
	await "made.$1"
	echo "$BG" > $CG/case/cgroup.procs
}

client() {
	local i was why pids=()
	fast rmem=$((KIB * 1024)) t_rmb_free=500
	groups owner full more free high beside
	await ready
	dials owner 5000
	pids=("$BG")
	was=$(current owner)
	mark dial.owner
	await dialled.owner 40
	echo "client: $(($(current owner) - was)) KiB for $N connections of $KIB KiB"
	check "the socket's cgroup is charged" test $(($(current owner) - was)) -ge $((N * KIB))
	mark client.charged
	await clean 60
	check "client" wait "${pids[0]}"

	await ready2
	# TCP's memory is reserved, or the kernel would look for processes to kill
	dials full 5001 set:RESERVE_MEM:65536
	pids=("$BG")
	fill full
	smc_reset
	why=$(smc_sum memcg-limit)
	mark dial.full
	await dialled.full 40
	eq "in a full cgroup they run over TCP" "$(on 5001 tcp)" $N
	eq "for this reason" "$(($(smc_sum memcg-limit) - why))" $N

	dials more 5002 set:RESERVE_MEM:65536
	pids+=("$BG")
	dials free 5003
	pids+=("$BG")
	fill more
	why=$(smc_sum memcg-limit)
	mark dial.free
	mark dial.more
	await dialled.more 40
	await dialled.free 40
	echo "beside another: $(on 5002 smc-r) SMC-R, $(on 5002 tcp) TCP, $(($(smc_sum memcg-limit) - why)) for want of memory"
	eq "the other cgroup's use SMC-R" "$(on 5003 smc-r)" $N
	eq "the full one's those that found an element" "$(($(smc_sum memcg-limit) - why))" "$(on 5002 tcp)"
	for i in full more; do
		check "$i has not become larger" test "$(<$CG/$i/memory.current)" -le "$(<$CG/$i/memory.max)"
	done

	dials high 5004
	pids+=("$BG")
	dials beside 5005
	pids+=("$BG")
	echo 0 > $CG/high/memory.high
	mark dial.high
	nap 0.05
	mark dial.beside
	await dialled.high 60
	await dialled.beside 60
	eq "beside a throttled one" "$(on 5005 smc-r)" $N
	mark done2
	for i in "${pids[@]}"; do check "client" wait "$i"; done
}
