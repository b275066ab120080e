# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Three links. A connection is about to move from the first to the second when that is
# lost, too, after all connections on it have moved. The connection checks its new link
# once it is there, and goes on at once over the third, not only when one of the lost
# links is deleted: the peer's answer comes late.
#
# covers: FO-24
# needs: uml latch
# why: its times are tried on UML only, and an emulated processor takes four times as long
# nics: 3/3
# timeout: 90
# tags: race conn links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

server() {
	fast max_links=3 t_llc=6000 t_link_retry=1000
	bg "$PROG/xfer" server 5000 send=40m recv=40m wpause=1
	poll 10 listening 5000
	mark up
	await three 20
	latch llc-work
	mark deaf
	holds llc-work
	mark held
	await over 20
	unlatch llc-work
	check "server" wait "$BG"
}

client() {
	smc_reset
	fast max_links=3 t_llc=6000 t_link_retry=1000
	await up
	bg "$PROG/xfer" client "$PEER" 5000 send=40m recv=40m wpause=1
	says "three links" '.status' 'active active active'
	mark three
	await deaf
	latch conn-move
	port_down 0
	holds conn-move
	await held
	port_down 1
	says "two have failed" '.status' 'failed failed active'
	eq "connections moved" "$(counter conn-moved)" 0
	# the second link has stopped, and the connections on it have moved
	nap 0.5
	unlatch conn-move
	check "the connection has moved twice" eventually 2 moved_twice
	says "none is deleted" '.status' 'failed failed active'
	mark over
	check "client" wait "$BG"
	smc_was "client" 1 1
	port_up 0
	port_up 1
}
moved_twice() { [ "$(counter conn-moved)" = 2 ]; }
