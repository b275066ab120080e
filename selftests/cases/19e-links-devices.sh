# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An RNIC is lost in every way that causes an event, at either end, in the midst of
# transfers: its link ends, its connections go on, and the group gets a second link again
# when the RNIC is back (RFC 7609 2.3, 3.5.5.1). An RNIC that gets another GID counts as
# lost and as new: the next link has the new GID at both ends. One that is there before its
# card has an address is used when the card has one.
#
# covers: FO-01 FO-18 FO-22 LG-01 LG-27 LG-28 LG-32 MISC-16
# nics: 2/2
# timeout: 240
# tags: lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# the loss, its end, the card; the first one is what the group was formed on
ROUNDS="rnic_delete:rnic_add:1 netdev_down:netdev_up:1 port_down:port_up:1 gid_change:gid_back:1 rnic_pulled:rnic_add:1
	rnic_delete:rnic_add_first:1 rnic_delete:rnic_add:0"

# rnic_add_first N: the RNIC comes before the addresses of its card
rnic_add_first() {
	ip addr del "$(me "$1")/24" dev "eth$1"
	ip addr del "$(me6 "$1")/64" dev "eth$1"
	rnic_add "$1"
	nic_address "$1"
}

links() { "$SMCCTL" -j link | jq "[.. | objects | select(.\"link-num\"?)] | length"; }
n_links() { [ "$(links)" = "$1" ]; }
n_conns() { [ "$(counter conn-created)" -ge "$1" ]; }
groups() { "$SMCCTL" -j linkgroup | jq "[.. | objects | select(.\"lgr-id\"?)] | length"; }

# gids MEMBER GID...: are these the GIDs of the links, in any order?
gids() {
	[ "$("$SMCCTL" -j link | jq -r "[.. | objects | select(.\"link-num\"?) | .\"$1\"] | sort | .[]")" = "$(printf '::ffff:%s\n' "${@:2}" | LC_ALL=C sort)" ]
}
# gids_are DESC CARD ADDRESS: the GIDs of the host that loses the RNIC, as both hosts show them
gids_are() {
	if [ "$ROLE" = "$where" ]; then
		check "$1: own GIDs" eventually 20 gids gid "$(me $((1 - $2)))" "$3"
	else
		check "$1: the peer's GIDs" eventually 20 gids peer-gid "$(peer $((1 - $2)))" "$3"
	fi
}
# address N: of that host, on its card N
address() { if [ "$ROLE" = "$where" ]; then me "$1"; else peer "$1"; fi; }
address_new() { local a; a=$(address "$1"); echo "${a%.*}.$((${a##*.} + 100))"; }

# loss WHERE LOSS BACK CARD: at the end named WHERE, in the midst of the transfer
loss() {
	# n is of both()
	local what="$1: $2 $4" id="$1.$2.$3.$4" where=$1
	# the load goes on until the loss has been noticed
	local load=(conns=6 par=6 wchunk=20000:60000 wpause=5 until="$CASEDIR/mark.lost.$id")

	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 "${load[@]}"
		poll 10 listening 5000
		mark "ready.$id"
	else
		await "ready.$id"
		bg "$PROG/xfer" client "$PEER" 5000 "${load[@]}"
	fi
	n=$((n + 6))
	check "$what: connections" eventually 20 n_conns "$n"
	check "$what: two links" eventually 20 n_links 2
	barrier "links.$id"
	[ "$ROLE" != "$1" ] || "$2" "$4"
	if [ "$2" != gid_change ]; then
		check "$what: one link" eventually 20 n_links 1
	else
		gids_are "$what" "$4" "$(address_new "$4")"
	fi
	barrier "seen.$id"
	[ "$ROLE" = client ] || mark "lost.$id"
	check "$what: transfer" wait "$BG"
	barrier "lost.$id"
	[ "$ROLE" != "$1" ] || "$3" "$4"
	check "$what, $3: two links" eventually 20 n_links 2
	gids_are "$what, $3" "$4" "$(address "$4")"
	eq "$what: groups" "$(groups)" 1
	barrier "back.$id"
}

both() {
	local r n=0

	fast qp_timeout=13
	smc_reset
	for r in $ROUNDS; do
		# shellcheck disable=SC2086
		loss server ${r//:/ }
		# shellcheck disable=SC2086
		loss client ${r//:/ }
	done
	"$SMCCTL" link
	smc_was "$ROLE" 84 84
	echo "moved: $(counter conn-moved)"
	check "connections moved" test "$(counter conn-moved)" -ge 12
}

server() { both; }
client() { both; }
