# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The same work carried by verbs, by AF_SMC and by TCP: a parameter server, a
# rendezvous and batches, each with two workers. Every carrier ends with the very
# bits that one process computes without any; AF_SMC was SMC-R.
#
# timeout: 120
# lanes: uml qemu
# tags: rdma
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
PATTERNS="ps rendezvous batch"
WORK=(-w 2 -n 12 -b 128k)

# carrier NAME: the program and its options; 5000 is the port
carrier() {
	case $1 in
	verbs) echo "$RDMA/patterns ${WORK[*]}" ;;
	smc) echo "$PROG/patterns_sock ${WORK[*]}" ;;
	tcp) echo "$PROG/patterns_sock -t ${WORK[*]}" ;;
	esac
}

# digest FILE: of the result in it. "" is not a digest.
digest() { sed -n 's/.*"digest": "\([0-9a-f]\{64\}\)".*/\1/p' "$1"; }

# step FILE: the median of a round's time
step() { sed -n 's/.*"step_ms": \([0-9.]*\),.*/\1/p' "$1"; }

up() { grep -qs listening "$1"; }

server() {
	local p c out
	smc_reset
	for p in $PATTERNS; do
		"$PROG/patterns_sock" "${WORK[@]}" "$p" local > "$CASEDIR/$p-local"
		check "$p: a digest" test -n "$(digest "$CASEDIR/$p-local")" || :
		for c in verbs smc tcp; do
			out=$CASEDIR/$p-$c-server
			# shellcheck disable=SC2046
			bg into "$out" $(carrier $c) "$p" server 5000
			poll 15 up "$out" || fail "$p over $c: no server"
			mark "up.$p.$c"
			check "$p over $c: server" wait "$BG" || :
			eq "$p over $c: the bits" "$(digest "$out")" "$(digest "$CASEDIR/$p-local")" || :
			await "done.$p.$c" 60
			echo "# $p over $c: a round takes $(step "$CASEDIR/$p-$c-worker0") ms"
		done
	done
	smc_was "server" 6 6
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
				check "$p over $c: worker $w" wait "${pids[w]}" || :
				[ "$p" = batch ] ||
					eq "$p over $c: worker $w has the bits" "$(digest "$CASEDIR/$p-$c-worker$w")" \
						"$(digest "$CASEDIR/$p-local")" || :
			done
			mark "done.$p.$c"
		done
	done
	smc_was "client" 6 6
}

# into FILE CMD...: its standard output; complaints stay in the log
into() {
	local f=$1; shift
	"$@" > "$f"
}
