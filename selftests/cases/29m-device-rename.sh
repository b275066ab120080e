# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RDMA device is renamed, as udev does as soon as it appears, while connections are
# made and links are queried by its name: all connections use SMC-R, in the same group,
# and links are shown with the name that the device has.
#
# nics: 1
# timeout: 60
# needs: synopt
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=30
SOCKCMD=$PROG/sockcmd

# links NAME: how many are on a device of that name
links() { "$SMCCTL" -j link dev-name "$1" | jq '[.. | objects | ."dev-name"? // empty] | length'; }

server() {
	local i
	bg "$SOCKCMD" limit:50 socket listen:5000 mark:up slot:1 accept:0 await:over recv:5 send:5 \
		recv:1=eof close
	await first
	for ((i = 0; i < 3; i++)); do
		"$SOCKCMD" limit:40 socket listen:$((5001 + i)) mark:up$i slot:1 accept:0 recv:5 send:5 \
			recv:1=eof close || fail "connection $i"
	done
	check "the first connection" wait "$BG"
}

client() {
	local old i wrong=0
	old=$(rnic 0)
	smc_reset
	await up
	bg "$SOCKCMD" limit:50 socket connect:"$PEER":5000 mark:first await:over send:5 recv:5 close
	await first
	for ((i = 0; i < N; i++)); do
		rdma dev set "$old" name "smcr$i" || fail "it cannot be renamed"
		[ "$(links "smcr$i")" = 1 ] && [ "$(links "$old")" = 0 ] || wrong=$((wrong + 1))
		old=smcr$i
		((i % 10 == 9)) || continue
		await up$((i / 10))
		check "connection $((i / 10))" "$SOCKCMD" limit:20 socket connect:"$PEER":$((5001 + i / 10)) \
			send:5 recv:5 close
	done
	rdma dev set "$old" name "$(rnic 0)"
	mark over
	check "the first connection" wait "$BG"
	eq "names that were wrong" "$wrong" 0
	eq "groups made" "$(smc_sum lgr-created)" 1
	smc_was "all of them" 4 4
}
