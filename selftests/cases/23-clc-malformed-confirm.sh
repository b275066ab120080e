# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Where a Confirm is due: malformed ones end the TCP connection, reserved
# enumerations are declined in first contact, and in reuse the MTU is nobody's
# business.
#
# covers: CLC-03 CLC-09 CLC-10 CLC-12 CLC-48 CLC-50
# module: ours none
# timeout: 60
# kernels: umdbg um 6.1 6.12
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	app_bg limit:60 socket listen:5000 mark:up slot:1 \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close
	app_end "four fallbacks, then two SMC-R connections"
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
	pup "another peer ID than in the Proposal" < <(bad 'peer_id=~')
	pup "reserved MTU and Bsize are declined" < <(declined "mtu=0 0x06050000" "mtu=6 0x06050000" "mtu=15 0x06050000" "bsize=6 0x06060000")
	pup "MTU is not looked at in reuse" <<-E
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		conn 2
		connect $PEER 5000
		reuse until=confirm
		tx confirm mtu=0
		tx data len=5
		rx data len=5
		close
	E
}
