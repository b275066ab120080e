# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Slow LLC does not delay data: while an exchange waits for its answer, and behind as many
# LLC messages as a peer may have under way, a round trip takes no longer than without.
# The fastest quarter of the times is compared, which a busy machine does not change;
# round trips with and without a load alternate.
#
# covers: LLC-14 CDC-02
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet llc cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# round trips of each kind; those with LLC are not slower by this factor and this
# many ms. Each of ten LLC messages costs a debug kernel some ms of itself.
ROUNDS=30 FACTOR=3 EXTRA=$((15 * SLOW * SLOW))

server() {
	local i calls=()
	fast rmem=65536 t_rmb_free=500 t_llc=30000 t_testlink=0
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..5}; do calls+=("slot:$i" send:5); done
	for ((i = 0; i < ROUNDS; i++)); do calls+=(recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	calls+=(slot:5)
	for ((i = 0; i < 2 * ROUNDS; i++)); do calls+=(recv:5 send:5); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}" recv:1=eof close
	app_end "server program"
}

# trip KIND: a round trip; the puppet prints the time of each line
trip() { printf '%s\n' "print $1" "tx data len=5" "rx data len=5"; }

# quarter KIND: the number of round trips, and the longest of the fastest quarter, in ms
quarter() {
	awk -v kind="$1" '{ t = $1; sub(/^ *[0-9.]+ +/, "") }
		$0 == kind { on = 1 }
		on && $0 == "tx data len=5" { begin = t; wait = 1 }
		on && wait && /< cdc seq/ { printf "%d\n", (t - begin) * 1000; on = wait = 0 }' "$CASEDIR/client.log" |
		sort -n | awk '{ ms[NR] = $1 } END { print NR, ms[int((NR + 3) / 4)] }'
}

client() {
	local i n kind alone beside behind
	await up
	pup "an exchange that waits, and a load of LLC" < <(
		for i in {1..5}; do
			echo "conn $i"
			echo "connect $PEER 5000"
			if [ "$i" = 1 ]; then printf '%s\n' first_contact "let rkey1=%peer_rkey"; else echo "reuse"; fi
			printf '%s\n' "accepted" "tx data len=5"
		done
		for i in {1..5}; do printf '%s\n' "conn $i" "rx data len=5"; done
		echo "conn 5"
		for ((i = 0; i < ROUNDS; i++)); do trip alone; done
		for i in {1..4}; do printf '%s\n' "conn $i" "close"; done
		echo "conn 5"
		echo "rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s"
		# unanswered to the end: T_LLC is long
		for ((i = 0; i < ROUNDS; i++)); do
			trip beside
			for _ in {1..10}; do echo "tx llc test_link nowait"; done
			trip behind
			for _ in {1..10}; do echo "rx llc test_link reply=1"; done
		done
		echo "tx llc delete_rkey reply=1 rkey1=%rkey1"
		echo "close"
	)
	for kind in alone beside behind; do
		read -r n i < <(quarter $kind)
		eq "round trips that the puppet timed: $kind" "$n" $ROUNDS
		printf -v $kind %d "$i"
	done
	echo "ms for a round trip: $alone, with an exchange under way $beside, behind ten TEST LINKs $behind"
	check "an exchange holds up nothing ($alone, $beside ms)" test "$beside" -le $((FACTOR * alone + EXTRA))
	check "a load of LLC holds up no data ($beside, $behind ms)" test "$behind" -le $((FACTOR * beside + EXTRA))
}
