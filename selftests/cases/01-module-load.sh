# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is loaded and removed several times. While it is loaded, there are AF_SMC
# sockets. (Also the template for new cases.)
#
# fabric: roce -- kernel: each host loads and unloads the module
# tags: smoke

offered() { grep -q '^SMC' /proc/net/protocols; }

common() {
	local n
	want_smcr
	check "AF_SMC is offered" offered
	for ((n = 0; n < 3; n++)); do
		unload_smcr
		load_smcr
	done
	check "AF_SMC is offered again" offered
}

server() {
	common
	mark loaded
	await loaded.too
}

client() {
	common
	await loaded
	mark loaded.too
	check "the peer still answers" ping -q -c1 -W2 "$PEER"
}
