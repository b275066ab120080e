# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A group of one link has several RMBs on either side when a second RNIC comes: all of
# them are registered there and announced in ADD LINK CONTINUATION, with keys of their
# own; so are later RMBs. New connections use both links, and when the first one is lost
# the connections of every RMB go on over the other. With the group, all RMBs are freed.
#
# covers: CLC-33 LG-03 LG-19 LG-46 LLC-37 LLC-38 LLC-55 RMB-20 RMB-21 RMB-27
# nics: 2/2
# timeout: 60
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

OLD=28	# connections of the one link
LAST=27	# the first of them with elements of the largest size
NEW=8	# new ones, on both links

# numbers of connections by link, in ascending order
conns() { "$SMCCTL" -j conn | jq -c '[.. | objects | ."link-num"? // empty] | group_by(.) | map(length) | sort'; }
mrs() { rdma -jd resource show mr dev "$(rnic "$1")" | jq '[.[] | select((.comm // "") | test("smcr"))] | length'; }
all_told() { [ "$(mrs 0)" = "$(mrs 1)" ]; }

symmetric() { ! "$SMCCTL" -j link | jq -r '.. | objects | .role? // empty' | grep -qv '^symmetric$'; }
# The second link must be symmetric: not one that was made a moment before the other
# host's RNIC came
second() {
	local try
	for try in 1 2 3 4 5; do
		rnic_add 1
		eventually 10 have 2 || break
		barrier "made$try"
		! symmetric || break
		rnic_delete 1
		eventually 10 have 1 || break
		barrier "again$try"
	done
	check "a second link" have 2
}

# both OPEN GO: the connections of this side
both() {
	local i calls=()
	for ((i = 1; i <= OLD; i++)); do
		[ $i != $LAST ] || calls+=("mark:most$ID" await:large)
		eval "calls+=(slot:$i $1)"
	done
	calls+=("mark:old$ID" await:second)
	for ((; i <= OLD + NEW; i++)); do eval "calls+=(slot:$i $1)"; done
	calls+=("mark:new$ID" await:cut)
	for ((i = 1; i <= OLD + NEW; i++)); do eval "calls+=(slot:$i $2)"; done
	bg "$PROG/sockcmd" limit:40 "${@:3}" "${calls[@]}"
	_prog=$BG
	await "most$ID" 30
	barrier most
	# elements of the largest size, too
	fast rmem=524288
	barrier large
	mark large
	await "old$ID" 30
	check "one link" eventually 5 have 1
	check "several RMBs ($(mrs 0))" test "$(mrs 0)" -ge 5
	barrier one
	second
	check "all RMBs are registered with both RNICs ($(mrs 0))" eventually 5 all_told
	eq "connections stay where they are" "$(conns)" "[$OLD]"
	barrier two
	local before
	before=$(mrs 0)
	# elements of another size are in an RMB of their own
	fast rmem=262144
	barrier size
	mark second
	await "new$ID" 30
	check "another RMB" test "$(mrs 0)" -gt "$before"
	check "it is, too ($(mrs 0))" eventually 5 all_told
	# the link with the fewest gets the next
	eq "connections of the links" "$(conns)" "[$NEW,$OLD]"
	barrier three
	[ "$ROLE" = client ] || path_cut 0 0
	check "one link is left" eventually 15 have 1
	eq "connections of the one" "$(conns)" "[$((OLD + NEW))]"
	barrier four
	mark cut
	check "the program" wait "$_prog"
	eq "connections that moved" "$(counter conn-moved)" $OLD
	smc_was "$ROLE" $((OLD + NEW)) $((OLD + NEW))
	[ "$ROLE" = client ] || "$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	check "no group is left" eventually 10 no_group
	check "its RMBs are freed ($(counter rmb-created))" eventually 5 smc_same rmb-created rmb-freed
}

server() {
	fast max_links=2 rmem=131072 t_testlink=1000 qp_timeout=13 t_link_retry=3600000 t_rmb_free=3600000
	smc_reset
	rnic_delete 1
	barrier begin
	both "accept:0 recv:5 send:5" "recv:70000 send:70000 recv:1=eof close" socket listen:5000 mark:up
}

client() {
	fast max_links=2 rmem=131072 t_testlink=1000 qp_timeout=13 t_link_retry=3600000 t_rmb_free=3600000
	smc_reset
	rnic_delete 1
	barrier begin
	await up
	both "socket connect:$PEER:5000 send:5 recv:5" "send:70000 recv:70000 close" slot:0
}
