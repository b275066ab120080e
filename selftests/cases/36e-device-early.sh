# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RDMA device is removed between Accept and Confirm: the removal does not wait for the
# client, which is declined when its Confirm comes. The removal of the only device of a link
# group is announced by DELETE LINK of the group, which is not orderly: the path is lost.
#
# covers: CLC-51 CLC-58 LLC-48
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local begin
	fast t_clc=20000
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	await accepted
	begin=${EPOCHREALTIME/./}
	rnic_delete 0
	check "the device goes at once" test $((${EPOCHREALTIME/./} - begin)) -lt 5000000
	mark gone
	app_end "the connection goes on as TCP"
	rnic_add 0
	check "the device is back" eventually 10 rnic_usable 0
	app_bg limit:40 socket listen:5001 mark:up2 slot:1 accept:0 recv:5 recv:1=ECONNRESET close
	await open
	rnic_delete 0
	app_end "the group ends"
	rnic_add 0
}

client() {
	await up
	pup "Accept, and the device goes" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		mark accepted
		await gone
		rx none 300ms
		qp create
		tx confirm
		rx decline s=0
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	await up2
	pup "the only device of the group goes" <<-E
		connect $PEER 5001
		first_contact
		accepted
		tx data len=5
		taken
		mark open
		rx llc delete_link reply=0 all=1 link=0 orderly=0 reason=0x10000
		rx rst
	E
}
