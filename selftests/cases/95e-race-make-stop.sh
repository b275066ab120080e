# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client makes its third link when the link that carries the exchange is lost, so the new one is to be
# stopped. Both are work of the same slot: one waits for the other, on whatever processor.
#
# covers: LG-28
# needs: latch
# nics: 3/3
# timeout: 90
# tags: race lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	race_server 3
	race_server_ends
}

client() {
	race_client 3
	rnic_delete 2
	says "two links" '.state' 'rts rts'
	latch slot-make
	rnic_add 2
	holds slot-make
	port_down 0
	says "one link works" 'select(.state == "rts") | ."link-num"' '2'
	nap 0.5
	unlatch slot-make
	port_up 0
	says "three links again" '.state' 'rts rts rts'
	mark over
	wait "$BG" || :
}
