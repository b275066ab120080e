# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# iperf3, unmodified: one stream, four, backwards, both ways, IPv6.
#
# covers: MISC-01 MISC-03 MISC-11
# timeout: 120
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
RUNS=(" " "-P 4" "-R" "--bidir" "-N -l 1000" "-6")

server() {
	need iperf3
	smc_reset
	bg over iperf3 -s -p 5201
	poll 10 listening 5201
	mark ready
	await finished 110
	smc_was server 16 20
}

client() {
	local r
	need iperf3
	await ready
	smc_reset
	for r in "${RUNS[@]}"; do
		# shellcheck disable=SC2086
		check "iperf3 $r" over iperf3 -c "$([[ $r = *6* ]] && echo "$PEER6" || echo "$PEER")" -p 5201 -t 2 -f M $r || :
	done
	smc_was client 16 20
	mark finished
}
