# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# redis-server and redis-benchmark, unmodified: 1, 16 and 64 clients, with and
# without pipelining. Over SMC-R and over TCP.
#
# covers: MISC-01
# timeout: 150
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
# redis-benchmark connects for each of its two tests with every client, and
# once to ask for the configuration; then two redis-cli.
# Half of them at least: a slow machine may have done all the work before the
# last client has connected, and then that one is closed in its handshake.
MAX=$((2 * (2 * (1 + 16 + 64) + 3) + 2))
MIN=$((MAX / 2))

one_server() {
	serve redis-server --port "$(via 6379)" --bind 0.0.0.0 --protected-mode no --save "" --appendonly no --dir $APPDIR
	poll 20 listening "$(via 6379)"
	pids+=("$BG")
}

server() {
	local pids=() p
	need redis-server
	smc_reset
	both one_server
	mark ready
	await finished 140
	smc_was server $MIN $MAX
	kill "${pids[@]}"
	for p in "${pids[@]}"; do check "redis-server ends" wait "$p"; done
}

one_client() {
	local c p n
	for c in 1 16 64; do
		for p in 1 16; do
			# twice, at least: with less work than that, clients come too late to do any
			n=$((2 * c * p))
			[ $n -ge $((1500 / DEAR)) ] || n=$((1500 / DEAR))
			try "$c clients, pipeline of $p" over redis-benchmark -h "$PEER" -p "$(via 6379)" -c $c -P $p -n $n -d 300 -t set,get -q
		done
	done
	head -c 300000 /dev/urandom | base64 -w0 > $APPDIR/value
	same "a large value is set" "$(over redis-cli -h "$PEER" -p "$(via 6379)" -x set big < $APPDIR/value)" OK
	over redis-cli -h "$PEER" -p "$(via 6379)" --raw get big | head -c -1 > $APPDIR/value.back
	try "and comes back" cmp $APPDIR/value $APPDIR/value.back
}

client() {
	need redis-benchmark redis-cli
	await ready
	smc_reset
	both one_client
	smc_was client $MIN $MAX
	mark finished
}
