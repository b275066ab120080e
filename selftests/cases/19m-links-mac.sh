# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The MAC of an RNIC changes and its GID, which is an IPv4 address, stays. The host takes
# the RNIC for lost and for new: the link over it ends, its connections go on over the other
# one, and the group gets a link with the new MAC, which both hosts know.
#
# covers: FO-22
# nics: 2/2
# timeout: 90
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
N=4

# macs MEMBER: of the links, sorted
macs() { "$SMCCTL" -j link | jq -r "[.. | objects | select(.\"link-num\"?) | .\"$1\"] | sort | join(\" \")"; }
macs_are() { [ "$(macs "$1")" = "$2" ]; }
sorted() { printf '%s\n' "$@" | LC_ALL=C sort | paste -sd' '; }

# change WHERE MAC: card 1 of that host gets it
change() {
	local card0
	if [ "$ROLE" = "$1" ]; then
		ip link set eth1 address "$2"
		# the peer's neighbour entry is corrected by this host's next packet
		ping -qc1 -W1 -I eth1 "$(peer 1)" > /dev/null || :
		card0=$(</sys/class/net/eth0/address)
		check "$1, $2: own MACs" eventually 20 macs_are mac "$(sorted "$card0" "$2")"
	else
		check "$1, $2: the peer's MACs" eventually 20 macs_are peer-mac "$(sorted "$(<"$CASEDIR/mac0.$PEER_ID")" "$2")"
	fi
	check "$1, $2: two links" eventually 20 have 2
	barrier "changed.$1.$2"
}

both() {
	put "$CASEDIR/mac0.$ID" "$(</sys/class/net/eth0/address)"
	put "$CASEDIR/mac1.$ID" "$(</sys/class/net/eth1/address)"
	barrier macs
	check "two links" eventually 10 have 2
	barrier two
	change server 02:00:00:00:19:01
	change client 02:00:00:00:19:02
	change server "$(<"$CASEDIR/mac1.1")"
	change client "$(<"$CASEDIR/mac1.2")"
	check "connections moved" test "$(moved)" -ge 2
	: > /tmp/changed
	check "data" wait "$LOAD"
	smc_was "$ROLE" $N $N
}

begin() {
	at_once max_links=2 t_link_retry=1000
	smc_reset
	rm -f /tmp/changed
}

server() {
	begin
	bg "$PROG/xfer" server 5000 conns=$N par=$N until=/tmp/changed wpause=10
	LOAD=$BG
	poll 10 listening 5000
	mark ready
	both
}

client() {
	begin
	await ready
	bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N until=/tmp/changed wpause=10
	LOAD=$BG
	both
}
