# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A well-behaved puppet and the module: first contact, reuse, data both ways
# and orderly close, the puppet as client and then as server. The puppet checks
# every byte on the way (RFC layout, reserved bits, sequence, cursors). As client it begins
# with PSN 0 and an MTU of 1 KiB, and as server with the last PSN, and it gives its first link
# another number than the module would.
#
# covers: CLC-15 CLC-30 CLC-31 CLC-38 CLC-43 CLC-45 CLC-47 LLC-01 LLC-02 LLC-19 LLC-20 LLC-27
# covers: CLC-49 CDC-01 CDC-14 RMB-19
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet smoke
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	# --- the module is the server
	app_bg socket listen:5000 mark:up slot:1 accept:0 recv:5 send:40000 recv:100000 recv:1=eof close \
		accept:0 send:100 recv:1=eof close
	app_end "server program"

	# --- the puppet is the server
	pup_bg <<-'E'
		set link_num=7 psn=0xffffff
		listen 5001
		mark up2
		accept
		opt
		first_contact
		rx data len=5
		tx data len=40000
		rx data len=100000 consume
		close
		conn 2
		set token=0
		accept
		reuse
		rx data len=100
		tx data len=100
		close
		conn 3
		set token=0xffffffff
		accept
		reuse
		rx data len=100
		tx data len=100
		close
		# TCP_CORK does not hold back the Confirm: TCP would for 200 ms
		conn 4
		accept
		rx proposal
		tx accept first=0
		rx confirm 100ms
		rx data len=100
		tx data len=100
		close
		check offences 0
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" <<-E
		set psn=0 mtu=3
		connect $PEER 5000
		opt
		# the queue pair that counts is that of the Confirm, on another RNIC than the Proposal's
		tx proposal mac=020000000099
		first_contact from=accept
		tx data len=5
		rx data len=40000 consume
		tx data len=100000
		close
		conn 2
		connect $PEER 5000
		reuse
		rx data len=100
		close
		check offences 0
	E

	await up2
	app "client program" socket "connect:$PEER:5001" send:5 recv:40000 send:100000 recv:1=eof close
	app "client program, token 0" socket "connect:$PEER:5001" send:100 recv:100 recv:1=eof close
	app "client program, token -1" socket "connect:$PEER:5001" send:100 recv:100 recv:1=eof close
	app "client program, corked" socket set:TCP_CORK:1 "connect:$PEER:5001" send:100 set:TCP_CORK:0 recv:100 recv:1=eof close
}
