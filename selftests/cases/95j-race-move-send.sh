# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A connection that moves to another link is held when its send buffer is mapped there, under full load in
# both directions: its writer, completions of the old link and messages of the peer wait or go on.
#
# covers: FO-01 FO-09
# needs: latch
# nics: 2/2
# timeout: 90
# tags: race conn links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

server() {
	fast max_links=2 t_llc=3000
	bg "$PROG/xfer" server 5000 send=40m recv=40m wpause=1
	poll 10 listening 5000
	mark up
	check "server" wait "$BG"
}

client() {
	smc_reset
	fast max_links=2 t_llc=3000
	await up
	bg "$PROG/xfer" client "$PEER" 5000 send=40m recv=40m wpause=1
	says "two links" '.state' 'rts rts'
	latch conn-move
	port_down 0
	holds conn-move
	nap 0.5
	unlatch conn-move
	check "client" wait "$BG"
	smc_was "client" 1 1
	eq "connections moved" "$(counter conn-moved)" 1
	port_up 0
}
