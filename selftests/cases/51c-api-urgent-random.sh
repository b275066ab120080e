# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Urgent data at random, as on TCP: how much comes before the byte, in which pieces
# it is read, whether the byte is received or dropped, or is in the stream. The ring
# is small, and wraps several times.
#
# covers: CDC-41
# timeout: 180
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

# TCP is to have room: this is for SMC-R only
server() { echo 16384 > /proc/sys/net/smcr/rmem; api_server; }

# pieces N: reads N bytes, and not beyond
pieces() {
	local left=$1 k
	while [ "$left" -gt 0 ]; do
		k=$((RANDOM % 4 ? RANDOM % 900 + 1 : 10000))
		[ $((RANDOM % 4)) != 0 ] || echo "S recv b $k peek"
		echo "S recv b $k"
		left=$((left - k))
	done
}

# round INLINE: some bytes, and behind them some of which the last is urgent. All of
# them are read before more is sent: SMC-R would hold back what TCP does not (CDC-36).
round() {
	local first=$((RANDOM % 3 ? RANDOM % 1500 : 0)) n=$((RANDOM % 4 ? RANDOM % 1500 + 1 : 1))
	[ $first = 0 ] || echo "C send a $first"
	echo "C send a $n oob"
	echo "S poll b pri 5000"
	n=$((first + n - 1))
	echo "S inqwait b $((n + $1))"
	[ $((RANDOM % 2)) = 0 ] || echo "S oob b peek"
	[ $((RANDOM % 3)) != 0 ] || echo "S oob b"
	echo "S atmark b"
	pieces $n
	echo "S atmark b"
	[ $((RANDOM % 2)) = 0 ] || echo "S oob b"
	if [ "$1" = 1 ]; then echo "S recv b 1"; else echo "S skip b 1"; fi
	[ $((RANDOM % 2)) = 0 ] || return 0
	n=$((RANDOM % 500 + 1))
	printf '%s\n' "C send a $n" "S poll b in 5000"
	pieces $n
	printf '%s\n' "S atmark b" "S oob b"
}

script() {
	local inline i
	for inline in 0 1; do
		printf '%s\n' "== urgent at random, inline $inline" "S serve l" "C connect a" \
			"S accept l b" "S set b OOBINLINE $inline"
		for ((i = 0; i < 60 / DEAR; i++)); do round $inline; done
	done
}

client() {
	RANDOM=$SEED
	script > "$CASEDIR/script.api"
	api_client "$CASEDIR/script.api" 4
}
