# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RFC mode: elements carry an eye catcher, data begin at offset 4. It is used when the
# peer does not announce that it has none, or when the knob requires it.
#
# covers: RMB-14 RMB-15 RMB-17 CDC-12 CDC-15 CDC-16 CDC-48
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet rmb cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i calls=()
	log_all
	fast rmem=16384
	for i in {1..4}; do calls+=(slot:1 accept:0 recv:5 send:5 recv:1=ECONNABORTED close); done
	app_bg socket listen:5000 mark:up slot:2 accept:0 sndbuf:200000 send:32768 recv:5 \
		"${calls[@]}" \
		slot:1 accept:0 recv:5 send:5 recv:1=ECONNABORTED close \
		slot:2 send:5 recv:5 recv:1=eof close \
		slot:1 accept:0 recv:100000 send:100000 recv:1=eof close
	app_end "server program"
	check "eye catchers are looked at" test "$(counter rmbe-eye-catcher-checks)" -gt 0
	eq "damage was counted" "$(counter rmbe-eye-catcher)" 4
	check "damage was logged" grep -q "eye catcher of element .* was overwritten" <(messages)
	log_limited

	# --- the module as client, which asks for it itself
	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		first_contact until=confirm_link_reply
		rx llc confirm_link reply=1 no_eye=0 @3=80
		tx llc add_link
		rx llc add_link reply=1
		rx data len=40000 consume
		tx data len=40000
		close
		conn 2
		accept
		reuse
		# when data come connect() has returned
		rx data len=1
		write off=3 len=1 byte=00
		tx data len=5
		wait cdc has=A
		tx cdc flags=A
		rx rst
	E
	pup_end "puppet as server"
}

client() {
	local i
	await up
	# Catalogue F.12: 32768 bytes into an element of 16384, cursors start at 4.
	pup "puppet as client" < <(
		cat <<-E
			set no_eye=0
			connect $PEER 5000
			first_contact until=confirm
			tx confirm cut=0
			fill len=49152
			tx confirm
			rx llc confirm_link no_eye=1
			qp rts
			tx llc confirm_link reply=1
			rx llc add_link
			tx llc add_link reply=1
			rx cdc prod=4 prod_wrap=1 cons=4 cons_wrap=0 flags=B
			rx data len=16380
			check untouched off=0 len=4
			check untouched off=16384 len=32768
			fill
			consume 16380
			rx cdc prod=4 prod_wrap=2 flags=B
			rx data len=16380
			consume 16380
			check untouched off=0 len=4
			rx cdc prod=12 prod_wrap=2 flags=0
			rx data len=8
			check untouched off=0 len=4
			tx data len=5
		E
		# each byte of the eye catcher
		for i in 0 1 2 3; do
			cat <<-E
				conn eye$i
				connect $PEER 5000
				reuse
				tx data len=5
				rx data len=5
				write off=$i len=1 byte=55
				tx data len=5
				wait cdc has=A
				tx cdc flags=A
				rx rst
			E
		done
		cat <<-E
			# a cursor that points into it
			conn low
			connect $PEER 5000
			reuse
			tx data len=5
			rx data len=5
			tx cdc prod=3 prod_wrap=1
			wait cdc has=A
			tx cdc flags=A
			rx rst
			# the first connection is not affected
			conn 1
			rx data len=5
			tx data len=5
			close
			# and a new one in the same elements works: data, wraps, both ways
			conn last
			connect $PEER 5000
			reuse
			tx data len=100000
			rx data len=100000 consume
			close
		E
	)
	fast eye_catcher=1 rmem=16384
	await up2
	app "client program" socket "connect:$PEER:5001" send:40000 recv:40000 recv:1=eof close
	app "damaged" socket "connect:$PEER:5001" send:1 recv:1=ECONNABORTED close
}
