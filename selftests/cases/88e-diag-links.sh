# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# smcctl link, linkgroup and monitor, and the log, of a group with two symmetric links of
# which one is lost and replaced: roles, RNICs and load of each, redundancy, what became
# of the lost one and of its connections, and its whole life in order.
#
# covers: LG-46 LG-53 MISC-14
# nics: 2/2
# timeout: 120
# tags: diag lgr links nodebug sim-plain
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
N=8
LOAD="endless=1 rchunk=4k pause=5 idle=100000"

mac() { cat "/sys/class/net/eth$1/address"; }
# as lib/lab.py gives them
peer_mac() { local m; m=$(mac "$1"); echo "${m%?}$PEER_ID"; }

two_links() {
	says "state" .status "active active"
	says "role" .role "symmetric symmetric"
	says "RNICs" '."dev-name"' "$(rnic 0) $(rnic 1)"
	says "own MAC addresses" .mac "$(mac 0) $(mac 1)"
	says "the peer's" '."peer-mac"' "$(peer_mac 0) $(peer_mac 1)"
	says "connections" .conns "$((N / 2)) $((N / 2))"
	says "data on both" '."tx-writes" > 0' "true true"
	says "nothing has failed, nothing moved" '[."reason-name", ."moved-in", ."moved-out"] | tojson' "[null,0,0] [null,0,0]"
	group_says "two of two links, which is redundancy" '[.links, ."max-links", .redundancy, .redundant, .moved, .past] | tojson' \
		'[2,2,"symmetric",1,0,[]]'
}

one_link() {
	local last='  '		# the reason follows, if there is one
	[ "$1" != null ] || last='$'
	says "the one that is left" '[."link-num", .status, .role, .conns, ."moved-in"] | tojson' "[1,\"active\",\"single\",$N,$((N / 2))]"
	group_says "one link, which is none" '[.links, .redundancy, .redundant, .moved] | tojson' "[1,\"none\",0,$((N / 2))]"
	group_says "the lost one" '.past | map([."link-num", .role, ."dev-name", .gid, ."peer-gid", ."moved-out", ."tx-writes" > 0]) | tojson' \
		"[[2,\"symmetric\",\"$(rnic 1)\",\"::ffff:$(me 1)\",\"::ffff:$(peer 1)\",$((N / 2)),true]]"
	group_says "why it failed" '.past[0]."reason-name"' "$1"
	check "$ROLE: in words" grep -qE "link 2 is deleted, [0-9]+ s ago  symmetric  $(rnic 1) .* moved-out $((N / 2))$last" <("$SMCCTL" -d linkgroup)
}

logged() { check "$ROLE: log: $1" grep -qE "smcr: link group [0-9]+ $1" <(messages); }

both() {
	_is_sim || skip "which end notices the loss first is certain in the simulation only"
	log_all
	at_once max_links=2 t_lgr_idle=60000 t_link_retry=20000
	monitor_links
	smc_reset
	if [ "$ROLE" = server ]; then
		# shellcheck disable=SC2086
		bg "$PROG/xfer" server 5000 conns=$N par=$N $LOAD
		poll 10 listening 5000
		mark ready
	else
		await ready
		# shellcheck disable=SC2086
		bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N $LOAD
	fi
	local load=$BG why
	two_links
	logged 'is redundant \(2 links\)'
	barrier two

	[ "$ROLE" = client ] || path_cut 1 1
	check "$ROLE: one link" eventually 20 have 1
	why=$(life 2)
	case $why in
	"adding active failed:link-error deleted"|"adding active failed:llc-timeout deleted") ;;
	"adding active leaving deleted") why="failed:null deleted" ;;	# the peer was first: the link has not failed here
	*) check "$ROLE, link 2: $why" false ;;
	esac
	why=${why#*failed:}
	one_link "${why% *}"
	logged 'is not redundant any more \(one link\)'
	barrier one

	# not before the connections are gone: nothing moves back
	kill "$load" || :	# the other side may have ended it
	wait "$load" || :
	check "$ROLE: no connection is left" eventually 20 smc_idle
	barrier idle
	[ "$ROLE" = client ] || path_mend 1 1
	check "$ROLE: two links again" eventually 40 have 2
	says "the new one has a new number" '[."link-num", .status, .role, .conns] | tojson' '[1,"active","symmetric",0] [3,"active","symmetric",0]'
	group_says "redundancy again, and the lost one is not forgotten" '[.links, .redundancy, .redundant, (.past | map(."link-num"))] | tojson' \
		'[2,"symmetric",1,[2]]'
	eq "$ROLE: log: redundant, twice" "$(grep -cE "smcr: link group $(group '."lgr-id"') is redundant \(2 links\)" <(messages))" 2
	eq "$ROLE, link 3" "$(life 3)" "adding active"
	barrier over
}

server() { both; }
client() { both; }
