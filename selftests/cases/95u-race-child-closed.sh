# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The listener's work stops after the begin of a child's handshake. Meanwhile the handshake is
# declined, and the program accepts the child, uses it over TCP and closes it. The work does
# not use the child's TCP socket any more, and the listener accepts the next connection.
#
# covers: CLC-13
# module: ours none
# needs: synopt latch
# timeout: 60
# tags: race puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	latch child-begun
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close mark:closed \
		slot:1 accept:0 recv:5 send:5 recv:1=eof close
	await declined
	holds child-begun
	await closed
	unlatch child-begun
	await over
	mark next
	app_end "accept() returned the declined and the good one"
	check "no connection is left" eventually 20 smc_idle
}

client() {
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		tx proposal net=10.78.0.0/24
		mark declined
		rx decline s=0 diag=0x03070000
		$(tcp5)
		mark over
		await next
		$(host 2)
		$(done5)
	E
}
