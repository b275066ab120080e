# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CPython's test_asyncore: its handle_expt, a client that waits for urgent data by
# select() and by poll(), between two hosts; and all tests of its sockets, unmodified, on
# one host, where there is no RDMA and AF_SMC falls back. Over SMC-R and over TCP.
#
# covers: CDC-35
# timeout: 150
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
EXPT=$PROG/expt.py
ONE_HOST=(IPv4Select IPv4Poll IPv6Select IPv6Poll)

here() { /usr/bin/python3 -c 'import test.test_asyncore' 2> /dev/null || skip "there is no python3 with test.test_asyncore"; }

one_server() {
	local how port
	for how in select poll; do
		port=$(via $((7100 + ${#how})))
		serve "$EXPT" server $how "$port" "$CASEDIR/expt-$VIA-$how"
		servers+=("$BG")
		poll 30 listening "$port" || fail "$VIA: nobody listens on port $port"
	done
}

server() {
	local servers=() p
	need
	here
	smc_reset
	both one_server
	mark ready
	await finished 140
	for p in "${servers[@]}"; do check "a server ends" wait "$p"; done
	smc_was server 2 2
}

one_client() {
	local how
	for how in select poll; do
		try "handle_expt by $how()" over "$EXPT" client $how "$PEER" "$(via $((7100 + ${#how})))"
		touch "$CASEDIR/expt-$VIA-$how"
	done
}

client() {
	need
	here
	await ready
	smc_reset
	both one_client
	smc_was client 2 2
	mark finished
	for VIA in tcp smc; do
		try "all sockets of test_asyncore on one host" over /usr/bin/python3 -W ignore -m unittest -v -f "${ONE_HOST[@]/#/test.test_asyncore.TestAPI_Use}"
	done
}
