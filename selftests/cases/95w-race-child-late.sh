# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The listener's work stops between the begin of a child's handshake and the callbacks of its
# TCP socket, for longer than the handshake may take. A child whose client is silent is dropped
# then, and one that is declined meanwhile is returned by accept(), each once. The listener
# accepts the next connection. A listener that is closed meanwhile waits for that work, and
# resets the child.
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
	fast t_clc=500
	latch child-begin
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close slot:1 accept:0 recv:5 send:5 recv:1=eof close
	for conn in silent declined; do
		await $conn
		holds child-begin
		nap 1
		unlatch child-begin
		await $conn.over
		[ $conn = declined ] || latch child-begin
		mark $conn.next
	done
	app_end "accept() returned the declined and the good one"
	latch child-begin
	app_bg limit:60 socket listen:5001 mark:up2 await:begun close
	await closed
	holds child-begin
	mark begun
	nap 0.5
	unlatch child-begin
	app_end "the listener is closed"
	check "no connection is left" eventually 20 smc_idle
}

client() {
	await up
	pup "puppet as client" <<-E
		conn silent
		connect $PEER 5000
		mark silent
		rx rst 10s
		mark silent.over
		await silent.next
		conn declined
		connect $PEER 5000
		tx proposal net=10.78.0.0/24
		mark declined
		rx decline s=0 diag=0x03070000
		$(tcp5)
		mark declined.over
		await declined.next
		$(host 2)
		$(done5)
		await up2
		conn closed
		connect $PEER 5001
		mark closed
		rx rst 10s
	E
}
