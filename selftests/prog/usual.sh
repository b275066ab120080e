# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases with an attack: latency of the connections of another peer, with the
# attack and without.
#
#	usual_serve PORT	the server of these connections
#	usual_before HOST PORT [N]	measure without the attack
#	usual_now DESC HOST PORT [N]	measure during the attack: medians and maxima are
#				at most three times as long, plus some slack

usual_serve() {
	bg "$PROG/latency" "$1"
	poll 10 listening "$1"
}

usual_before() {
	"$PROG/latency" "$1" "$2" "${3:-100}" > /dev/null	# the first contact, caches
	_usual=$("$PROG/latency" "$1" "$2" "${3:-100}") || fail "measurement without the attack"
	echo "without the attack: $_usual"
}

# _usual_ok NOW MEDIAN_SLACK MAX_SLACK: in microseconds
_usual_ok() {
	echo "$_usual $1" | awk -v med="$2" -v max="$3" '{
		for (i = 0; i < 2; i++) {
			if ($(8 + 3 * i) > 3 * $(2 + 3 * i) + med) bad = 1
			if ($(9 + 3 * i) > 3 * $(3 + 3 * i) + max) bad = 1
		}
	} END { exit bad }'
}

usual_now() {
	local now
	now=$("$PROG/latency" "$2" "$3" "${4:-100}") || { check "$1: connections" false || :; return 0; }
	echo "with the attack: $now"
	check "$1: median and maximum as usual ($now; without: $_usual)" _usual_ok "$now" $((20000 * SLOW)) $((500000 * SLOW)) || :
}
