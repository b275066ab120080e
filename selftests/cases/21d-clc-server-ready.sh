# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The objects that a server has created before it sends Accept: in first contact a queue
# pair in INIT; always an element for this client alone, zeroed and, on an existing link,
# registered. So data arrive that a client writes as soon as its Confirm is sent, or
# before TCP has delivered that; in first contact, once CONFIRM LINK has come (3.5.1.2,
# 3.5.2.4).
#
# covers: CLC-29 CLC-45
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

zeros=$(printf '00%.0s' {1..60})

values() { "$SMCCTL" -ja "$1" | jq "[.. | objects | .\"$2\"? // empty]"; }
state() { values link state | jq -r 'join(",")'; }
is() { [ "$("$1")" = "$2" ]; }
used() { values rmb used | jq add; }

server() {
	local i calls=()
	# 5: first contact, 60 zeros; then a connection each for 20 rounds
	for i in {1..20}; do calls+=(slot:2 accept:0 recv:300 send:5 recv:1=eof close); done
	smc_reset
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 "recvhex:60=$zeros" recvtext:5=hello send:5 \
		"${calls[@]}" slot:1 recv:1=eof close
	await accepted
	eq "the queue pair is in INIT" "$(state)" init
	eq "one element is taken" "$(used)" 1
	mark looked
	await accepted2
	eq "an element for the second connection" "$(used)" 2
	# the one that the peer has refused is freed later
	check "the link that was there" eventually 5 is state rts
	mark looked2
	app_end "server program"
	smc_was "all of them" 21 21
	eq "no CDC went astray" "$(counter cdc-token)" 0
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		cat <<-E
			connect $PEER 5000
			tx proposal
			rx accept first=1
			mark accepted
			await looked
			qp create
			qp rtr
			tx confirm
			rx llc confirm_link
			qp rts
			# announced, and never written: what the element held before
			tx cdc advance=60
			tx data hello
			tx llc confirm_link reply=1
			rx llc add_link
			tx llc add_link reply=1
			rx data len=5
			conn again
			connect $PEER 5000
			tx proposal
			rx accept first=0
			mark accepted2
			await looked2
			tx confirm
			tx data len=300
			rx data len=5
			close
		E
		# the race again and again
		for i in {2..20}; do
			cat <<-E
				conn again$i
				connect $PEER 5000
				reuse
				tx data len=300
				rx data len=5
				close
			E
		done
		printf '%s\n' "conn 1" "close"
	)
}
