# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A server's handshake waits for another first contact of the same client, while the
# address that it has chosen, and so the GID, is removed from the RDMA port. After the
# wait it makes no group there: it declines at once, and announces no GID that is gone.
# The wait takes 3 s at most, in which the debug kernel may not manage to delete an
# address.
#
# covers: LG-02
# module: ours none
# timeout: 60
# needs: synopt plain
# tags: puppet lgr plain
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

has_gid() { grep -qsh 'ffff:0a63:0001$' /sys/class/infiniband/$RNIC/ports/1/gids/*; }
no_gid() { ! has_gid; }

server() {
	ip addr add 10.99.0.1/24 dev eth0
	poll 10 has_gid || fail "no GID for the second address"
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	await waits
	ip addr del 10.99.0.1/24 dev eth0
	poll 10 no_gid || fail "the GID stays"
	mark gone
	app_end "the connection goes on as TCP"
	eq "groups that ended for this" "$(counter link-device)" 1
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		# the server's RNIC is that of the subnet which is proposed
		set net=10.99.0.0/24
		conn 2
		connect $PEER 5000
		tx proposal
		rx none 300ms
		mark waits
		await gone
		rx none 200ms
		conn 1
		tx rst
		conn 2
		rx decline s=0 2s
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
}
