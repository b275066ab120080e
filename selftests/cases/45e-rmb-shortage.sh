# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Memory is short when an RMB is allocated: a smaller one is used; without any, that
# connection is TCP, and no other one is affected. Pages that net/lgr/rmb.c asks for are
# refused, others are not.
#
# covers: RMB-11
# module: ours none
# timeout: 30
# lanes: uml
# needs: fault
# tags: puppet rmb fault
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/faults.sh
. "$PROG/faults.sh"

server() {
	local i calls=()
	faulty fail_page_alloc '(smcr_)?rmb_[a-z_]+'
	# whether a slab is full is chance, and so would be what is left of six refusals
	spare fail_page_alloc new_slab
	# four elements in the first RMB of this size, eight in the next, sixteen
	fast rmem=65536
	for i in 1 2 3; do calls+=("slot:$i" accept:0 recv:5); done
	calls+=(mark:three slot:4 accept:0 recv:5 mark:four \
		slot:5 accept:0 recv:5 send:5 recv:1=eof close slot:6 accept:0 recv:5 mark:again)
	for i in 1 2 3 4 6; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:25 socket listen:5000 mark:up "${calls[@]}"
	await three
	# the fourth has RMBs made ahead of need, in vain
	refuse fail_page_alloc -1
	mark none
	await declined
	eq "one RMB" "$(counter rmb-created)" 1
	# Eight elements cannot be allocated and, without an attempt ahead of need
	# meanwhile, four and two cannot either: each attempt asks for large chunks first
	# and for pages then. The third RMB is one made ahead of need, when there is
	# memory again. An attempt ahead of need, for the fourth or the fifth, uses some
	# refusals up.
	until refuse fail_page_alloc 6; nap 0.5; [ "$(<$FAULTS/fail_page_alloc/times)" = 6 ]; do :; done
	mark some
	await again
	refuse fail_page_alloc 0
	check "a smaller one" test "$("$SMCCTL" -j rmb | jq '.. | objects | select(."rmb-id" == 2) | .elements')" -lt 8
	app_end "server program"
	eq "out of memory, once" "$(counter no-memory)" 1
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		printf '%s\n' "conn 1" "connect $PEER 5000" "first_contact" "accepted" "tx data len=5"
		for i in 2 3; do printf '%s\n' "conn $i" "connect $PEER 5000" "reuse" "accepted" "tx data len=5"; done
		cat <<-E
			await none
			conn 4
			connect $PEER 5000
			reuse
			tx data len=5
			await four
			conn 5
			connect $PEER 5000
			tx proposal
			rx decline s=0 diag=0x01010000
			tx app len=5
			rx app len=5
			tx fin
			rx eof
			mark declined
			await some
			conn 6
			connect $PEER 5000
			tx proposal
			rx accept first=0 index=1
			tx confirm
			tx data len=5
		E
		for i in 1 2 3 4 6; do printf '%s\n' "conn $i" "rx data len=5" "close"; done
		echo "qp destroy"
	)
}
