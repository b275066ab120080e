# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link of the client fails, and the thread that found it is held before it reports that. The
# server deletes the link meanwhile and adds another one, which takes the same slot. The late report
# does not reach the new link.
#
# covers: FO-22
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
	race_server 2
	await held
	rnic_delete 1
	says "another link" '."link-num"' '1 3'
	barrier three
	await late
	eq "server: links that failed" "$(counter link-down)" 0
	barrier over
	rnic_add 1
	kill "$BG" || :
	wait "$BG" || :
}

client() {
	race_client 2
	latch link-fail
	gid_change 1
	holds link-fail
	mark held
	says "another link" '."link-num"' '1 3'
	barrier three
	unlatch link-fail
	nap 2		# the late report
	says "links afterwards" '."link-num"' '1 3'
	says "they work" '.state' 'rts rts'
	mark late
	barrier over
	gid_back 1
	wait "$BG" || :
}
