# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two cards on each host: a link group gets a second, symmetric link, connections are
# spread over both, and later RMBs are announced for both (RFC 7609 2.2, 3.5.5). Each host
# knows the user ID that the other one has given each link. A connection between the addresses
# of the second cards is one of the same hosts and joins the group. When a group may have no more
# RMBs, a parallel group begins, which gets a second link as well.
#
# covers: CLC-67 CLC-70 LLC-19 LLC-20 MISC-15
# nics: 2/2
# timeout: 60
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"?)] | length"; }
two() { [ "$(links)" = 2 ]; }
active() { [ "$("$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?).status] | unique == ["active"]')" = true ]; }
ids() { "$SMCCTL" -j link | jq -c "[.. | objects | select(.\"link-num\"?)] | sort_by(.\"link-num\") | map([.\"link-num\", .\"$1\", .\"$2\"])"; }
per_group() { "$SMCCTL" -j link | jq -c "[.. | objects | select(.\"link-num\"?)] | group_by(.\"lgr-id\") | map(length)"; }
both_two() { [ "$(per_group)" = "[2,2]" ]; }

# parallel CALLS: connections that need more elements than the RMB of one group has
parallel() {
	smc_reset
	app_bg limit:40 "$@"
	barrier open 40
	eventually 10 both_two || :
	eq "$ROLE: links of each group" "$(per_group)" "[2,2]"
	barrier seen
	mark seen
	app_end "$ROLE: six connections"
	smc_was "$ROLE: two groups" 6 6
}

server() {
	local i open=() end=()
	fast max_links=2 t_lgr_idle=4000
	smc_reset
	bg "$PROG/stress" server 5000 conns=40 par=8
	poll 10 listening 5000
	mark ready
	check "two links" eventually 10 two
	check "both are active" eventually 10 active
	"$SMCCTL" link
	ids user-id peer-user-id > "$CASEDIR/ids"
	mark two
	app "server: second cards" limit:20 socket listen:5002 mark:up2 accept:0 recv:5 send:5 recv:1=eof close
	check "server" wait "$BG"
	smc_was "server" 41 41
	# four elements of this size in an RMB
	fast rmem=65536 max_rmbs_per_lgr=1
	check "server: no group is left" eventually 10 no_group
	for i in {1..6}; do open+=("slot:$i" accept:0 recv:5 send:5); end+=("slot:$i" recv:1=eof close); done
	parallel slot:0 socket listen:5001 mark:up "${open[@]}" await:seen "${end[@]}"
}

client() {
	local i stress open=() end=()
	fast max_links=2 t_lgr_idle=4000
	await ready
	smc_reset
	bg "$PROG/stress" client "$PEER" 5000 conns=40 par=8 max=200000 ends=chsb
	check "two links" eventually 10 two
	await two
	check "both are active" eventually 10 active
	eq "user IDs of each link" "$(ids peer-user-id user-id)" "$(<"$CASEDIR/ids")"
	stress=$BG
	await up2
	bg "$PROG/sockcmd" limit:20 socket "bind:$(me 1):0" "connect:$(peer 1):5002" send:5 recv:5 mark:joined await:counted close
	await joined
	eq "a connection between the second cards is in the group" "$(per_group)" "[2]"
	mark counted
	check "client: second cards" wait "$BG"
	check "client" wait "$stress"
	"$SMCCTL" link
	smc_was "client" 41 41
	check "client: no group is left" eventually 10 no_group
	await up
	for i in {1..6}; do open+=("slot:$i" socket "connect:$PEER:5001" send:5 recv:5); end+=("slot:$i" close); done
	parallel "${open[@]}" await:seen "${end[@]}"
}
