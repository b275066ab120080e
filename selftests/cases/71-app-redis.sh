# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# redis-server and redis-benchmark, unmodified: 1, 16 and 64 clients, with and
# without pipelining.
#
# covers: MISC-01 MISC-03
# timeout: 150
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"

server() {
	need redis-server
	smc_reset
	cd $APPDIR || fail "no $APPDIR"
	bg over redis-server --port 6379 --bind 0.0.0.0 --protected-mode no --save "" --appendonly no --dir $APPDIR
	poll 20 listening 6379
	mark ready
	await finished 140
	smc_was server 162 2000
	kill "$BG"
	wait "$BG" || true
}

client() {
	local c p
	need redis-benchmark redis-cli
	await ready
	smc_reset
	for c in 1 16 64; do
		for p in 1 16; do
			check "$c clients, pipeline of $p" over redis-benchmark -h "$PEER" -c $c -P $p -n $((1500 / SLOW)) -d 300 -t set,get -q || :
		done
	done
	head -c 300000 /dev/urandom | base64 -w0 > $APPDIR/value
	check "a large value is set" bash -c "'$SMCCTL' run -- redis-cli -h $PEER -x set big < $APPDIR/value | grep -q OK"
	check "and comes back" bash -c "'$SMCCTL' run -- redis-cli -h $PEER --raw get big | head -c -1 | cmp - $APPDIR/value"
	smc_was client 162 2000
	mark finished
}
