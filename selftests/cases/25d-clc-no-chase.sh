# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The client's RDMA device is removed after its Proposal. A Decline must not follow the
# client's own message, so it is sent when the Accept has come, in place of Confirm. The
# application's data use TCP (C.1).
#
# covers: CLC-51
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	pup_bg <<-'E'
		listen 5001
		mark up
		accept
		rx proposal
		mark proposed
		await removed
		rx none 700ms
		qp create
		tx accept first=1
		rx decline s=0
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		# with the device it is SMC-R again
		conn 2
		link 2
		await back
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	local del
	usable() { "$SMCCTL" -ja device | jq -e --arg dev "$(rnic 0)" '[.. | objects | select(."dev-name"? == $dev and (.removed? | not))] | length > 0' > /dev/null; }
	unusable() { ! usable; }
	await up
	check "there is a device" usable
	smc_reset
	app_bg limit:30 socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	await proposed
	# it may have to wait for the end of the handshake
	rnic_delete 0 &
	del=$!
	check "the device is not used any more" eventually 10 unusable
	mark removed
	app_end "over TCP"
	tcp_was "client" 1
	check "the device is gone" wait "$del"
	rnic_add 0
	smc_reset
	mark back
	app "over SMC-R again" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	smc_was "with the device" 1 1
}
