# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# smcctl link and linkgroup, and the log, of a group with an asymmetric link: the client
# has one card. They show that the group is not redundant, and later the lost link with
# the connections that have moved.
#
# covers: LG-14 LG-21 LG-53
# nics: 2/1
# timeout: 120
# tags: diag lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

logged() { check "$ROLE: log: $1" grep -qE "smcr: link group [0-9]+ $1" <(messages); }

both() {
	local own peers
	log_all
	at_once max_links=8 t_lgr_idle=60000
	monitor_links
	smc_reset
	if [ "$ROLE" = server ]; then
		own="$(rnic 0) $(rnic 1)" peers="::ffff:$(peer 0) ::ffff:$(peer 0)"
		bg "$PROG/xfer" server 5000 conns=4 par=4 endless=1 rchunk=4k pause=5 idle=100000
		poll 10 listening 5000
		mark ready
	else
		own="$(rnic 0) $(rnic 0)" peers="::ffff:$(peer 0) ::ffff:$(peer 1)"
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=4 par=4 endless=1 rchunk=4k pause=5 idle=100000
	fi
	local load=$BG
	says "roles" '[.status, .role] | tojson' '["active","symmetric"] ["active","asymmetric"]'
	says "RNICs" '."dev-name"' "$own"
	says "the peer's" '."peer-gid"' "$peers"
	says "connections" .conns "2 2"
	group_says "two links that share an RNIC" '[.links, ."max-links", .redundancy, .redundant] | tojson' '[2,8,"asymmetric",0]'
	eq "$ROLE: user IDs, each another one" \
		"$("$SMCCTL" -j link | jq '[.. | objects | ."user-id"? | select(. > 0)] | unique | length')" 2
	mark "ids.$ID" "$(links '[."user-id", ."peer-user-id"] | tojson')"
	await "ids.$PEER_ID"
	eq "$ROLE: the peer knows them" "$(links '[."peer-user-id", ."user-id"] | tojson')" "$MARK"
	logged 'is not redundant \(an asymmetric link\)'
	eq "$ROLE: nothing said that it is" "$(grep 'is redundant' <(messages) || :)" ''
	barrier two

	# what is left is older or younger than what is lost; here the symmetric one goes
	[ "$ROLE" = client ] || rdma_silence 0
	check "$ROLE: one link" eventually 20 have 1
	says "the one that is left" '[."link-num", .status, .role, .conns] | tojson' '[2,"active","single",4]'
	group_says "one link" '[.links, .redundancy, .redundant, .moved, (.past | map([."link-num", .role, ."moved-out"]))] | tojson' \
		'[1,"none",0,2,[[1,"symmetric",2]]]'
	logged 'is not redundant \(one link\)'
	barrier one
	kill "$load" || :	# the other side may have ended it
	wait "$load" || :
	[ "$ROLE" = client ] || rdma_hear 0
	check "$ROLE: no connection is left" eventually 20 smc_idle
	barrier over
}

server() { both; }
client() { both; }
