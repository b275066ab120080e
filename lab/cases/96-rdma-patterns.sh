# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The same work carried by verbs, by AF_SMC and by TCP: a parameter server, a
# rendezvous and batches, each with two workers. The result over every carrier has
# the same bits as that of one process without any; AF_SMC was SMC-R. Different
# arguments at the two ends are reported, and wrong arguments are refused.
#
# timeout: 120
# lanes: uml qemu
# tags: rdma nodebug
# fabric: roce -- rxe: its programs connect by the RDMA CM, which the simulated RNIC has not got
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=lab/prog/patterns.sh
. "$LAB/prog/patterns.sh"
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"
PATTERNS="ps rendezvous batch"
WORK=(-w 2 -n 12 -b 128k)

# carrier NAME: the program and its options; 5000 is the port
carrier() {
	case $1 in
	verbs) echo "$RDMA/patterns ${WORK[*]}" ;;
	smc) echo "$LAB/prog/patterns_sock ${WORK[*]}" ;;
	tcp) echo "$LAB/prog/patterns_sock -t ${WORK[*]}" ;;
	esac
}

server() {
	local p c out rc
	smc_reset
	for p in $PATTERNS; do
		local_digest "$p" "${WORK[@]}"
		for c in verbs smc tcp; do
			out=$CASEDIR/$p-$c-server
			# shellcheck disable=SC2046
			bg into "$out" $(carrier $c) "$p" server 5000
			poll 15 up "$out" || fail "$p over $c: no server"
			mark "up.$p.$c"
			check "$p over $c: server" wait "$BG"
			eq "$p over $c: the bits" "$(digest "$out")" "$(digest "$CASEDIR/$p-local")"
			await "done.$p.$c" 60
			told "$p over $c" "$CASEDIR/$p-$c-worker0"
		done
	done
	smc_was "server" 6 6
	for c in verbs smc tcp; do
		out=$CASEDIR/differ-$c-server
		# shellcheck disable=SC2046
		bg fails_into "$out" $(carrier $c) -b 64k ps server 5000
		poll 15 up "$out" || fail "$c: no server"
		mark "differ.$c"
		rc=0
		wait "$BG" || rc=$?
		eq "$c: the server does not go on with another size" $rc 1
	done
}

client() {
	local p c w out pids
	smc_reset
	for p in $PATTERNS; do
		for c in verbs smc tcp; do
			await "up.$p.$c" 60
			pids=()
			for w in 0 1; do
				# shellcheck disable=SC2046
				bg into "$CASEDIR/$p-$c-worker$w" $(carrier $c) -i $w "$p" worker "$PEER" 5000
				pids+=("$BG")
			done
			for w in 0 1; do
				check "$p over $c: worker $w" wait "${pids[w]}"
				[ "$p" = batch ] ||
					eq "$p over $c: worker $w has the bits" "$(digest "$CASEDIR/$p-$c-worker$w")" \
						"$(digest "$CASEDIR/$p-local")"
			done
			mark "done.$p.$c"
		done
	done
	smc_was "client" 6 6
	for c in verbs smc tcp; do
		await "differ.$c" 60
		# shellcheck disable=SC2046
		says 1 "-b is 131072 here and 65536 on the other side" $(carrier $c) ps worker "$PEER" 5000
	done
	for p in "$RDMA/patterns" "$LAB/prog/patterns_sock"; do
		says 2 "port: 99999 is not 1 to 65535" "$p" ps server 99999
		says 2 "-s: 18014398509481984k is not 0 to 65535" "$p" -s 18014398509481984k ps local
		says 2 "there is no option --colour" "$p" --colour ps local
		says 2 "(--help)" "$p" ps
		check "${p##*/} --help" grep -q '^usage: ' <("$p" --help)
	done
}
