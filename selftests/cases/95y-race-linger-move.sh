# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A lingering close() has posted C when the link fails. It goes on waiting until the connection has moved
# and C has arrived over the other link.
#
# covers: CONN-36
# needs: latch
# nics: 2/2
# timeout: 60
# tags: race conn links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

server() {
	fast max_links=2 t_llc=3000
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 mark:idle recv:1=eof close
	app_end "server program"
}

client() {
	smc_reset
	fast max_links=2 t_llc=3000
	await up
	app_bg limit:40 socket connect:"$PEER":5000 send:5 recv:5 linger:30 await:go close mark:closed
	says "two links" '.state' 'rts rts'
	await idle
	latch conn-move
	path_cut 0 0
	mark go
	holds conn-move
	nap 1
	check "close() waits" test ! -e "$CASEDIR/mark.closed"
	unlatch conn-move
	app_end "client program"
	smc_was "client" 1 1
	eq "connections moved" "$(counter conn-moved)" 1
	path_mend 0 0
}
