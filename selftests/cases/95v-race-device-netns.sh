# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device is removed, and the thread that takes its links off the groups waits between
# two of them, as for a link's last reference. Namespaces are made and end meanwhile: the
# lock that they take, and RTNL with it, is not held during that wait.
#
# covers: MISC-16
# needs: latch
# timeout: 60
# tags: race rdma
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	local gone app
	race_server 1
	app=$BG
	latch lgr-each
	bg rnic_delete 0
	gone=$BG
	holds lgr-each
	check "a namespace is made and ends" timeout 5 unshare -n true
	check "an address is set" timeout 5 ip addr add 10.99.0.1/32 dev lo
	check "the thread still waits" held lgr-each
	unlatch lgr-each
	check "the device is removed" wait "$gone"
	ip addr del 10.99.0.1/32 dev lo
	rnic_add 0
	poll 10 rnic_usable 0
	mark over
	kill "$app" || :
	wait "$app" || :
}

client() {
	race_client 1
	await over
	kill "$BG" || :
	wait "$BG" || :
}
