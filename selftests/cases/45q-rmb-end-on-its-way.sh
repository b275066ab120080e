# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer gives the element of an ended connection on, over another address than that of
# the group, and its Accept or Confirm arrives before its C or A of the old connection. The
# handshake waits for that message; after an own A it need not.
#
# covers: RMB-24
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# next5: lines for the connection that gets the element: 5 bytes each way, and its end
next5() { printf '%s\n' "rx data len=5" "tx data len=5" "close"; }

server() {
	ip addr add 10.77.0.101/24 dev eth0
	# the first one closes, the third one aborts
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 accept:0 recv:5 linger:0 close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	eq "server: none is refused" "$(counter rmbe-in-use)" 0
	eq "server: SMC-R connections" "$(counter conn-created)" 4

	pup_bg <<-E
		listen 5001
		mark up2
		set index=3
		accept
		first_contact
		rx data len=5
		wait cdc has=C
		# ours is not sent yet
		conn 2
		accept
		rx proposal
		tx accept first=0
		rx none 100ms tcp
		conn 1
		tx cdc flags=C
		conn 2
		rx confirm
		$(next5)
		conn 3
		accept
		reuse
		rx data len=5
		wait cdc has=A
		conn 4
		accept
		rx proposal
		tx accept first=0
		rx confirm
		conn 3
		tx cdc flags=A
		conn 4
		$(next5)
	E
	pup_end "puppet as server"
}

client() {
	pup_second_address
	await up
	pup "puppet as client" <<-E
		set index=3
		connect $PEER 5000
		first_contact
		tx data len=5
		wait cdc has=C
		conn 2
		connect 10.77.0.101 5000
		reuse
		# no data before the server has our C
		rx none 100ms
		conn 1
		tx cdc flags=C
		conn 2
		tx data len=5
		rx data len=5
		close
		conn 3
		connect $PEER 5000
		reuse
		tx data len=5
		wait cdc has=A
		conn 4
		connect 10.77.0.101 5000
		reuse
		tx data len=5
		rx data len=5
		conn 3
		tx cdc flags=A
		conn 4
		close
	E
	await up2
	app "the first two" socket "connect:$PEER:5001" send:5 close socket connect:10.77.0.101:5001 send:5 recv:5 recv:1=eof close
	app "the other two" socket "connect:$PEER:5001" send:5 linger:0 close socket connect:10.77.0.101:5001 send:5 recv:5 recv:1=eof close
	eq "client: none is refused" "$(counter rmbe-in-use)" 0
	eq "client: SMC-R connections" "$(counter conn-created)" 4
}
