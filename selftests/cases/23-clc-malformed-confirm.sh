# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Where a Confirm is due: malformed ones end the TCP connection, reserved enumerations are
# declined in first contact. In reuse the MTU is not checked, and a reserved Bsize ends
# the TCP connection. Behind the Confirm only a Decline may come before the application's data.
#
# covers: CLC-03 CLC-09 CLC-10 CLC-12 CLC-38 CLC-39 CLC-48 CLC-50
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# The reserved values
MTUS=(0 {6..15})
BSIZES=({6..15})

server() {
	local i n calls=()
	for ((i = 0; i < ${#MTUS[@]} + ${#BSIZES[@]} + 2; i++)); do
		calls+=(accept:0 recv:5 send:5 recv:1=eof close)
	done
	app_bg limit:60 socket listen:5000 mark:up slot:1 "${calls[@]}"
	await declined 40
	n=$(counter bad-bsize)
	mark counted
	app_end "fallbacks, then two SMC-R connections"
	eq "the reason in reuse" $(($(counter bad-bsize) - n)) ${#BSIZES[@]}
}

bad() {
	local what
	for what in "$@"; do
		n=$((n + 1))
		cat <<-E
			conn $n
			connect $PEER 5000
			tx proposal
			rx accept first=1
			qp create
			qp rtr
			tx confirm $what
			rx rst
			qp destroy
		E
	done
}

declined() {
	local what
	for what in "$@"; do
		n=$((n + 1))
		cat <<-E
			conn $n
			connect $PEER 5000
			tx proposal
			rx accept first=1
			qp create
			qp rtr
			tx confirm ${what% *}
			rx decline s=0 diag=${what#* }
			qp destroy
			tx app len=5
			rx app len=5
			tx fin
			rx eof
			tx close
		E
	done
}

client() {
	local n=1 i
	await up
	pup "eye catchers" < <(for i in 0 1 2 3 64 65 66 67; do bad xor@$i=80; done)
	pup "another type" < <(bad @4=02 @4=01 @4=07)
	pup "wrong length" < <(bad @5=0043 @5=0045 @5=0030)
	pup "version 0 and 2" < <(bad @7=00 @7=20)
	pup "zero index, QP number, GID" < <(bad @45=00 @38=000000 "@16=$(printf '00%.0s' {1..16})")
	pup "another peer ID than in the Proposal" < <(bad 'peer_id=~' xor@8=01 xor@15=01)
	pup "something else than a Decline while the link is confirmed" < <(
		for i in 'tx confirm' 'tx app "application data"'; do
			n=$((n + 1))
			printf '%s\n' "conn $n" "link $n" "connect $PEER 5000" "first_contact until=rts" "$i" "rx rst" "qp destroy"
		done)
	pup "reserved MTU and Bsize are declined" < <(
		for i in "${MTUS[@]}"; do declined "mtu=$i 0x06050000"; done
		for i in "${BSIZES[@]}"; do declined "bsize=$i 0x06060000"; done
	)
	mark declined
	await counted
	pup "in reuse a reserved Bsize is no size, and MTU is not looked at" < <(
		cat <<-E
			connect $PEER 5000
			first_contact
			tx data len=5
			rx data len=5
			close
		E
		for i in "${BSIZES[@]}"; do
			cat <<-E
				conn bsize$i
				connect $PEER 5000
				reuse until=confirm
				tx confirm bsize=$i
				rx rst
				tx close
			E
		done
		cat <<-E
			conn 2
			connect $PEER 5000
			reuse until=confirm
			tx confirm mtu=0
			tx data len=5
			rx data len=5
			close
		E
	)
}
