# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Fifty clients complete the TCP handshake and then send nothing, or stop in the middle:
# no other connection is delayed, the number of handshakes is bounded, and close() of
# their listener ends them.
#
# The backlog is more than twice their number, so that the listener still offers SMC-R to
# others; 29h has one that does not.
#
# covers: CLC-14 SEC-13
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

held() { [ "$("$SMCCTL" -j show | jq '[.. | .handshakes? // empty] | add')" = "$1" ]; }

server() {
	app_bg limit:60 socket listen:5000:128 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close slot:0 await:stop close mark:stopped
	app_end "server program"
	fast max_handshakes=3
	app_bg limit:60 socket listen:5002:128 mark:up2 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	await three
	check "three negotiate" eventually 10 held 3
	mark three.seen
	app_end "one too many was declined"
}

silent() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo "conn $2$i"
		echo "connect $PEER $3"
		[ -z "${4:-}" ] || echo "$4"
	done
}

good() {
	cat <<-E
		conn good$1
		set peer_id=000${1}525400000002
		connect $PEER 5000
		start
		first_contact
		tx data len=5
		rx data len=5
		elapsed 0ms 2s
		close
		qp destroy
	E
}

client() {
	await up
	pup "fifty silent peers" < <(
		silent 40 s 5000
		silent 10 p 5000 "tx proposal cut=20"
		good 1
		# one stops behind the Accept; others of that peer wait for it, other
		# peers do not
		echo "set peer_id=0009525400000002"
		silent 1 a 5000 "tx proposal"
		echo "rx accept first=1"
		silent 2 b 5000 "tx proposal"
		good 2
		# they get their Decline in time for a Linux client ...
		echo "conn b0"
		echo "rx decline s=0 diag=0x060b0000"
		# ... and at once when the first contact failed for all of them
		echo "set peer_id=000a525400000002"
		silent 2 f 5000 "tx proposal"
		cat <<-E
			conn f0
			rx accept first=1
			qp create
			sleep 200ms
			start
			tx confirm mtu=9
			rx decline s=0 diag=0x06050000
			conn f1
			rx decline s=0 diag=0x060b0000
			elapsed 0ms 2s
			qp destroy
		E
		echo "mark stop"
		for c in s0 s39 p9 a0; do echo "conn $c"; echo "rx rst"; done)
	await up2
	pup "the fourth is declined" < <(
		silent 3 s 5002 "tx proposal cut=10"
		cat <<-E
			# the module has taken them from TCP now
			mark three
			await three.seen
			conn more
			connect $PEER 5002
			tx proposal
			rx decline diag=0x06090000
			tx app len=5
			rx app len=5
			tx fin
			rx eof
		E
	)
}
