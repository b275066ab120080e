# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The objects that a host has created before it sends each message of a first contact: the
# states of queue pairs and the number of RDMA objects, as the kernel's RDMA core shows
# them. The puppet is the peer and waits at each step.
#
# covers: CLC-17 CLC-37 CLC-47 CLC-56 CLC-60 LG-50 LG-52 LLC-20 CONN-02
# module: ours ours
# timeout: 90
# needs: synopt
# fabric: roce -- packets: it reads RoCE packets
# tags: puppet wire clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# Only those of the module: the puppet's have its process name.
qps() { rdma -jd resource show qp | jq -r '[.[] | select(.comm // "" | test("smcr")) | .state] | sort | join(",")'; }
mrs() { rdma -jd resource show mr | jq -r '[.[] | select(.comm // "" | test("smcr"))] | length'; }
modes() { "$SMCCTL" -ja conn | jq -r '[.[].mode] | join(",")'; }
is() { [ "$("$1")" = "$2" ]; }

# step NAME DESC STATES: the puppet waits at step NAME; check the states, then let it go on
step() {
	await "$1"
	passes "$2: queue pairs ($3)" eventually 3 is qps "$3" || echo "but: $(qps)"
	mark "$1.seen"
}

server() {
	local mr
	fast t_lgr_idle=60000
	app_bg limit:60 socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 send:5 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 \
		slot:2 recv:1=ECONNRESET close slot:3 recv:1=ECONNRESET close
	step silent "Proposal is not here" ""
	await accept
	passes "Accept was sent: a queue pair in INIT" is qps INIT || echo "but: $(qps)"
	mr=$(mrs)
	check "and memory for it ($mr)" test "$mr" -ge 1
	mark accept.seen
	# the second one is for the ADD LINK that has to follow (LG-18)
	step confirm "Confirm came, CONFIRM LINK was sent" INIT,RTS
	step declined "declined in CONFIRM LINK" ""
	passes "no memory region is left" eventually 3 is mrs 0 || echo "but: $(mrs)"
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		rx proposal
		mark proposed
		await proposed.seen
		qp create
		tx accept
		rx confirm
		mark confirmed
		await confirmed.seen
		qp rtr
		qp rts
		tx llc confirm_link
		rx llc confirm_link reply=1
		mark confirmlink
		await confirmlink.seen
		tx llc add_link
		rx llc add_link reply=1 rejected=1
		rx data len=5
		tx data len=5
		close
		qp destroy
	E
	pup_end "puppet as server"
}

client() {
	fast t_lgr_idle=60000
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		mark silent
		await silent.seen
		tx proposal
		rx accept first=1
		mark accept
		await accept.seen
		qp create
		qp rtr
		tx confirm
		rx llc confirm_link reply=0
		mark confirm
		await confirm.seen
		# all objects of this first contact are freed; the next one begins anew
		tx decline
		qp destroy
		mark declined
		await declined.seen
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		# a second connection must not use the group before its first contact is settled
		conn 2
		connect $PEER 5000
		first_contact until=add_link_reply
		conn 3
		connect $PEER 5000
		tx proposal
		rx none 400ms tcp
		conn 2
		tx llc add_link reply=1
		tx data len=5
		rx data len=5
		conn 3
		rx accept first=0
		tx confirm
		tx data len=5
		rx data len=5
		# the link fails behind an Accept: RST, no Decline
		conn 4
		connect $PEER 5000
		tx proposal
		rx accept first=0
		tx send 052c$(printf '00%.0s' {1..42}) expect=any
		rx rst
	E
	await up2
	app_bg limit:40 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	await proposed
	eq "Proposal was sent: no queue pair, no memory region" "$(qps) $(mrs)" " 0"
	mark proposed.seen
	await confirmed
	eq "Confirm was sent: a queue pair in RTR" "$(qps)" RTR
	check "and memory for it" test "$(mrs)" -ge 1
	mark confirmed.seen
	await confirmlink
	eq "CONFIRM LINK came: RTS" "$(qps)" RTS
	eq "but the connection is not active" "$(modes)" negotiating
	mark confirmlink.seen
	app_end "client program"
}
