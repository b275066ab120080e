# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Latches in the module's narrow windows (net/base/race.h): . "$PROG/race.sh". A closed latch stops
# threads that work for this host, 30 s at most. The builds for um, umdbg and umsmp have them.
#
#	latch NAME		closes it
#	held NAME [N]		true if N threads (1) wait there; for use with poll
#	holds NAME [N]		a subtest: N threads wait there within 20 s
#	unlatch NAME		opens it
#	race_server N, race_client N	a connection that stays, in $BG, with N links (prog/links.sh)
#	race_server_ends	ends it at the mark "over"
#	failed			true if a link has failed since downs=$(counter link-down)
RACE=/sys/module/smcr/parameters/race

latch() { echo "$1" > $RACE; }
unlatch() { echo "-$1" > $RACE; }
failed() { [ "$(counter link-down)" -gt "$downs" ]; }
held() { grep -qx "$1 ${2:-1}" $RACE; }
holds() { check "$ROLE: held at $1" eventually 20 held "$@"; }

_race_links() { says "$1 links" '.state' "$(printf 'rts %.0s' $(seq "$1") | sed 's/ $//')"; barrier links; }
race_server() {
	fast max_links="$1" t_llc=3000 t_link_retry=1000
	bg "$PROG/xfer" server 5000 endless=1 idle=100000
	poll 10 listening 5000
	mark up
	_race_links "$1"
}
race_client() {
	fast max_links="$1" t_llc=3000 t_link_retry=1000
	await up
	bg "$PROG/xfer" client "$PEER" 5000 endless=1 idle=100000
	_race_links "$1"
}
race_server_ends() {
	await over
	kill "$BG" || :
	wait "$BG" || :
}
