# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The simulated RNIC works as in Documentation/rnicsim.rst: rnictest has both
# ends of each connection, on devices of two namespaces in one host. Only the
# simulation has these devices.
#
# timeout: 60
# module: none

client() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	local types
	ip netns add self
	ip link add self0 type veth peer name eth0 netns self
	ip addr add 192.168.9.1/24 dev self0
	ip -n self addr add 192.168.9.2/24 dev eth0
	ip link set self0 up
	ip -n self link set eth0 up
	types=$(</sys/module/rnicsim/parameters/gid_types)
	echo 3 > /sys/module/rnicsim/parameters/gid_types
	rdma link add self0 type rnicsim netdev self0
	ip netns exec self rdma link add self1 type rnicsim netdev eth0
	echo "$types" > /sys/module/rnicsim/parameters/gid_types
	poll 5 ping -qc1 -W1 192.168.9.2
	check "rnictest" "$PROG/rnictest" self0 self1@/run/netns/self
	rdma link delete self0
	ip link delete self0
	ip netns delete self
}
