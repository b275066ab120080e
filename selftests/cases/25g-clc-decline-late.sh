# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client cannot register its memory in first contact, and notices that after its server
# has declined and gone on with TCP: the server's Decline is the one that counts, and no
# other Decline gets into the data of the server's application.
#
# covers: CLC-52 CLC-59
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
}
