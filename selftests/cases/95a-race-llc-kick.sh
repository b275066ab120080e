# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link is being created when its group ends. The result is reported while the end of the
# group waits for the group's work, which is held: the report queues nothing then, and
# must not leave a reference, or the group is never freed.
#
# covers: MISC-20
# needs: latch
# nics: 2/2
# timeout: 90
# tags: race lgr links
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	race_server 2
	race_server_ends
}

client() {
	race_client 2
	latch slot-make
	rnic_delete 1
	holds slot-make
	latch llc-work
	latch lgr-release
	"$SMCCTL" linkgroup delete "$(group '."lgr-id"')"
	holds llc-work
	holds lgr-release
	unlatch lgr-release
	nap 0.2		# its end waits for the group's work now
	unlatch slot-make
	nap 0.2
	unlatch llc-work
	check "the group is freed" eventually 20 no_group
	rnic_add 1
	mark over
	wait "$BG" || :
}
