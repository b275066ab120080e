# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# LLC is slow, data are not: while an exchange waits for its answer, and behind
# as many LLC messages as a peer may have under way, a round trip takes no
# longer than without: of these only the data's own time counts.
#
# covers: LLC-14 CDC-02
# module: ours none
# timeout: 60
# kernels: umdbg um 6.1 6.12
# tags: puppet llc cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# round trips; those with LLC are not slower by this factor and this many ms
ROUNDS=60 FACTOR=3 EXTRA=300

server() {
	local i calls=()
	fast rmem=65536 t_rmb_free=500 t_llc=20000 t_testlink=0
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..5}; do calls+=("slot:$i" send:5); done
	for ((i = 0; i < ROUNDS; i++)); do calls+=(recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	calls+=(slot:5)
	for ((i = 0; i < 2 * ROUNDS; i++)); do calls+=(recv:5 send:5); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}" recv:1=eof close
	app_end "server program"
}

# rounds N [BEFORE AFTER]: round trips between two marks, each with ten of these lines
rounds() {
	local i
	echo "start"
	echo "mark begin$1"
	for ((i = 0; i < ROUNDS; i++)); do
		[ -z "${2-}" ] || for _ in {1..10}; do echo "$2"; done
		echo "tx data len=5"
		echo "rx data len=5 1s"
		[ -z "${2-}" ] || for _ in {1..10}; do echo "$3"; done
	done
	echo "mark end$1"
}

client() {
	local i a b c n c2
	await up
	pup "an exchange that waits, and a load of LLC" < <(
		for i in {1..5}; do
			echo "conn $i"
			echo "connect $PEER 5000"
			if [ "$i" = 1 ]; then printf '%s\n' first_contact "let rkey1=%peer_rkey"; else echo "reuse"; fi
			echo "tx data len=5"
		done
		for i in {1..5}; do printf '%s\n' "conn $i" "rx data len=5"; done
		echo "conn 5"
		rounds 0
		for i in {1..4}; do printf '%s\n' "conn $i" "close"; done
		echo "conn 5"
		echo "rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s"
		rounds 1
		# still unanswered: T_LLC is long
		rounds 2 "tx llc test_link nowait" "rx llc test_link reply=1"
		echo "tx llc delete_rkey reply=1 rkey1=%rkey1"
		echo "close"
	)
	# mtimes of the marks are from one clock
	took() { echo $(($(stat -c %.3Y "$CASEDIR/mark.end$1" | tr -d .) - $(stat -c %.3Y "$CASEDIR/mark.begin$1" | tr -d .))); }
	a=$(took 0) b=$(took 1) c=$(took 2)
	echo "ms for $ROUNDS round trips: $a, with an exchange under way $b, with ten TEST LINKs before each $c"
	check "an exchange holds up nothing ($a, $b ms)" test "$b" -le $((FACTOR * a + EXTRA))
	# the puppet prints the time of each command
	data() { awk -v from="mark begin$1" -v to="mark end$1" '{ t = $1; sub(/^ *[0-9.]+ +/, "") } $0 == from { on = 1 } $0 == to { on = 0 }
		on && $0 == "tx data len=5" { b = t; wait = 1 } wait && /< cdc seq/ { sum += t - b; wait = 0; n++ }
		END { printf "%d %d\n", n, sum * 1000 }' "$CASEDIR/client.log"; }
	read -r n c2 < <(data 2)
	eq "round trips that the puppet timed" "$n" $ROUNDS
	check "a load of LLC holds up no data ($a, $c2 ms)" test "$c2" -le $((FACTOR * a + EXTRA))
}
