# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client cannot register its memory in first contact, and notices that after its server
# has declined and gone on with TCP: the server's Decline is the one that counts, and no
# other Decline gets into the data of the server's application. A server whose queue pair
# cannot be connected after the Confirm declines with that reason, and goes on with TCP.
#
# covers: CLC-52 CLC-57 CLC-59
# module: ours ours
# timeout: 60
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact until=rts
		qp rtr
		qp rts
		tx llc confirm_link
		sleep 2s
		tx decline diag=0x02010000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
	E
	pup_end "puppet as server"

	echo 1 > "/sys/kernel/debug/rnicsim/$(rnic 0)/fault/to_rtr"
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	echo 0 > "/sys/kernel/debug/rnicsim/$(rnic 0)/fault/to_rtr"
}

client() {
	local before fault
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	await up2
	fault=/sys/kernel/debug/rnicsim/$(rnic 0)/fault/wc_send
	before=$(counter clc-tx-decline)
	echo "1 drop" > "$fault"
	app "client program" limit:20 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	eq "Declines of the client" $(($(counter clc-tx-decline) - before)) 0
	echo 0 > "$fault"

	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		qp create
		qp rtr
		tx confirm
		rx decline s=0 diag=0x06030000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
}
