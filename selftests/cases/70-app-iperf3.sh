# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# iperf3, unmodified: one stream, four, backwards, both ways, IPv6. Over SMC-R
# and over TCP.
#
# covers: MISC-01 MISC-11
# timeout: 120
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
RUNS=(" " "-P 4" "-R" "--bidir" "-N -l 1000" "-6")
# a second costs no waiting in virtual time, but it is full of work
[ "$FABRIC" = sim ] && MUCH="-n 8M" || MUCH="-t 1"
# a control connection for each, and the streams
CONNS=$((6 + 1 + 4 + 1 + 2 + 1 + 1))

one_server() {
	serve iperf3 -s -p "$(via 5201)"
	poll 10 listening "$(via 5201)"
}

server() {
	need iperf3
	smc_reset
	both one_server
	mark ready
	await finished 110
	smc_was server $CONNS $CONNS
}

one_client() {
	local r j=$CASEDIR/iperf3-$VIA.json
	for r in "${RUNS[@]}"; do
		# shellcheck disable=SC2086
		try "iperf3 $r" into "$j" over iperf3 -c "$([[ $r = *6* ]] && echo "$PEER6" || echo "$PEER")" -p "$(via 5201)" $MUCH -J $r
		try "data arrived" into /dev/null jq -e '.error == null and .end.sum_received.bytes > 0' "$j"
	done
}

client() {
	need iperf3
	await ready
	smc_reset
	both one_client
	smc_was client $CONNS $CONNS
	mark finished
}
