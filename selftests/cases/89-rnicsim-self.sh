# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The simulated RNIC does what Documentation/rnicsim.rst says: rnictest has both
# ends of each connection, one on the device of either host. Only the
# simulation has these devices.
#
# timeout: 60
# module: none

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	check "rnictest" "$PROG/rnictest" "sim02" "sim01"
	check "the device that it removed can be made again" poll 5 made_again
}

# The one that was removed is the other host's
server() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	poll 50 [ ! -e /sys/class/infiniband/sim01 ]
	rdma link add sim01 type rnicsim netdev eth0
}

made_again() { [ -e /sys/class/infiniband/sim01 ]; }
