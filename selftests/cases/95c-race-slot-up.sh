# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client's new link comes up when its device is removed and then the group ends: both
# drop their reference on the link while memory is being registered on it. The link is not
# freed before the registration has ended.
#
# covers: LG-42
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
	local conn
	race_client 3
	conn=$BG
	rnic_delete 2
	says "two links" '.state' 'rts rts'
	downs=$(counter link-down)
	latch slot-up
	rnic_add 2
	holds slot-up
	bg rdma link delete "$(rnic 2)"
	check "the link fails" eventually 20 failed
	"$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	nap 4		# longer than the end of a group waits for its peer
	check "the device waits for the link" kill -0 "$BG"
	unlatch slot-up
	check "the device goes" wait "$BG"
	check "the group is freed" eventually 20 no_group
	rnic_add 2
	mark over
	wait "$conn" || :
}
