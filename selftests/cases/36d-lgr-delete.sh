# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# smcctl linkgroup delete, on the client and on the server, and the removal of
# the RDMA device: the peer gets DELETE LINK before its connections are reset.
#
# covers: LG-41 LG-42 LG-43
# timeout: 60
# needs: synopt
# tags: lgr
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

ends() {
	poll 15 gone "$2" || { check "$1: $ROLE does not hang" false; kill -KILL "$2"; }
	wait "$2" || :
}

the_lgr() { "$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | first'; }

# one ROLE WHAT: two connections, and the end that ROLE gives to their group
one() {
	local p=() i told reset
	base=$((base + 10))
	told=$(smc_sum lgr-deleted) reset=$(smc_sum tcp-reset)
	smc_reset
	if [ "$ROLE" = server ]; then
		for i in 1 2; do bg "$PROG/xfer" server $((base + i)) endless=1 idle=20000; p+=("$BG"); done
		poll 10 listening $((base + 1))
		poll 10 listening $((base + 2))
		barrier "$1-$2-up"
	else
		barrier "$1-$2-up"
		for i in 1 2; do bg "$PROG/xfer" client "$PEER" $((base + i)) endless=1 idle=20000; p+=("$BG"); done
	fi
	both() { smc_two=$(($(smc_sum client-first-contacts client-reuses server-first-contacts server-reuses) - _smc_conns)); [ "$smc_two" = 2 ]; }
	poll 20 both || fail "no connections"
	barrier "$1-$2-busy"
	if [ "$ROLE" = "$1" ]; then
		if [ "$2" = delete ]; then
			check "$1 $2: smcctl" "$SMCCTL" linkgroup delete "$(the_lgr)"
		else
			rnic_delete 0
		fi
	fi
	ends "$1 $2" "${p[0]}"
	ends "$1 $2" "${p[1]}"
	barrier "$1-$2-ended"
	# The peer's adapter had DELETE LINK before TCP was reset, but nothing orders what
	# its CPU handles first: some connections may end by TCP's RST.
	if [ "$ROLE" != "$1" ]; then
		eq "$1 $2: the $ROLE was told" "$(($(smc_sum lgr-deleted) - told > 0))" 1
	else
		eq "$1 $2: no connection of the $ROLE blames TCP" "$(($(smc_sum tcp-reset) - reset))" 0
	fi
	[ "$ROLE$2" != "$1device" ] || rnic_add 0
	barrier "$1-$2-done"
}

all() {
	local base=5000
	one client delete
	one server delete
	one client device
	one server device
}

server() { all; }
client() { all; }
