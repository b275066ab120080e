# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every reason to decline, forced: no RDMA device, policy, subnet, no queue pair,
# no memory, reserved values, no room for an RMB or a link group, out of sync.
# Each has its own diagnosis, and TCP goes on.
#
# covers: CLC-28 CLC-53
# module: ours ours
# timeout: 45
# lanes: uml
# needs: fault
# tags: puppet clc fault
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/faults.sh
. "$PROG/faults.sh"

has_rxe0() { "$SMCCTL" device | grep -qw "$(rnic 0)"; }

server() {
	local i calls=() echo5=(accept:0 recv:5 send:5 recv:1=eof close)
	faulty failslab 'link_[a-z_]+'
	faulty fail_page_alloc '(smcr_)?rmb_[a-z_]+'
	# an RMB of this size has two elements
	fast rmem=524288
	for i in device policy subnet qp memory mtu bsize; do calls+=(slot:1 "${echo5[@]}"); done
	calls+=(slot:2 accept:0 recv:5 slot:3 accept:0 recv:5 slot:1 "${echo5[@]}" "${echo5[@]}" \
		slot:2 send:5 recv:1=eof close slot:3 send:5 recv:1=eof close)
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	await device
	rnic_delete 0
	mark device.set
	await again
	rnic_add 0
	poll 5 has_rxe0
	mark again.set
	await policy
	fast enabled=0
	mark policy.set
	await on
	fast enabled=1
	mark on.set
	await subnet
	mark subnet.set
	await qp
	refuse failslab -1
	mark qp.set
	await memory
	refuse failslab 0
	refuse fail_page_alloc -1
	mark memory.set
	await mtu
	refuse fail_page_alloc 0
	mark mtu.set
	await rmbs
	fast max_rmbs_per_lgr=1
	mark rmbs.set
	await lgrs
	fast max_lgrs=1
	mark lgrs.set
	app_end "server program"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		rx proposal
		qp create
		tx accept first=0
		rx decline s=1 diag=0x04000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
	E
	pup_end "puppet as server"
}

declined() {
	printf '%s\n' "conn $1" "connect $PEER 5000" "mark $1" "await $1.set 20s" "tx proposal ${3:-}" "rx decline s=0 diag=$2"
	tcp5
}
confirm() {
	printf '%s\n' "conn $1" "connect $PEER 5000" "tx proposal" "rx accept first=1" "qp create" "qp rtr" "tx confirm $1=$2" \
		"rx decline s=0 diag=$3" "qp destroy"
	tcp5
}

client() {
	await up
	pup "instead of Accept, or after Confirm" < <(
		declined device 0x03030002
		printf '%s\n' "mark again" "await again.set"
		declined policy 0x06010000
		printf '%s\n' "mark on" "await on.set"
		declined subnet 0x03070000 net=192.0.2.0/24
		declined qp 0x06030000
		declined memory 0x01010000
		printf '%s\n' "mark mtu" "await mtu.set"
		confirm mtu 0 0x06050000
		confirm bsize 6 0x06060000
		cat <<-E
			mark rmbs
			await rmbs.set
			conn a
			connect $PEER 5000
			first_contact
			accepted
			tx data len=5
			conn b
			connect $PEER 5000
			reuse
			accepted
			tx data len=5
			# no parallel group, either
			mark lgrs
			await lgrs.set
			conn rmb
			connect $PEER 5000
			tx proposal
			rx decline s=0 diag=0x06020000
		E
		tcp5
		cat <<-E
			# another peer
			set peer_id=0002525400000002
			conn lgr
			connect $PEER 5000
			tx proposal
			rx decline s=0 diag=0x06090000
		E
		tcp5
		for i in a b; do printf '%s\n' "conn $i" "rx data len=5" "close"; done
	)
	await up2
	app "instead of Confirm" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
