# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client's new link fails before it is in its slot, by a fatal event of its device. That
# is reported when the link is in its slot, and not lost: the group has the link again as
# soon as the device works.
#
# covers: LG-37
# needs: latch
# nics: 3/3
# timeout: 90
# tags: race lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	race_server 3
	race_server_ends
}

client() {
	local act
	[ "$FABRIC" = sim ] || skip "a device that is fatal is simulated"
	act=/sys/kernel/debug/rnicsim/$(rnic 2)/act
	race_client 3
	rnic_delete 2
	says "two links" '.state' 'rts rts'
	latch link-place
	rnic_add 2
	holds link-place
	downs=$(counter link-down)
	echo device_fatal > "$act"
	nap 0.2
	eq "links that failed meanwhile" "$(counter link-down)" "$downs"
	unlatch link-place
	check "the failure is reported" eventually 1 failed
	echo port_active > "$act"
	says "three links again" '.state' 'rts rts rts'
	mark over
	wait "$BG" || :
}
