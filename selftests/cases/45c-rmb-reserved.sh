# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer that never says C or A: its element stays with the connection until
# T_CLOSE has run out, however its TCP connection ended, and is given out again
# afterwards.
#
# covers: RMB-22 RMB-23
# module: ours none
# timeout: 45
# kernels: umdbg um 6.1 6.12
# tags: puppet rmb conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

used() { [ "$("$SMCCTL" -j rmb | jq '[.. | objects | select(has("used"))] | map(.used + .quarantined) | add')" = "$1" ]; }

server() {
	# four elements, and no more than that
	fast rmem=65536 max_rmbs_per_lgr=1 t_close=4000 t_abort=300
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 slot:3 accept:0 recv:5 \
		slot:4 accept:0 recv:5 close mark:closed \
		slot:5 accept:0 recv:5 send:5 recv:1=eof close \
		slot:4 accept:0 recv:5 send:5 recv:1=eof close \
		slot:1 send:5 slot:2 send:5 slot:3 send:5 \
		slot:1 recv:1=eof close slot:2 recv:1=eof close slot:3 recv:1=eof close
	await silent
	check "the element is reserved" used 4
	await over 20
	check "it is free again" eventually 5 used 3
	mark free
	app_end "server program"
	eq "T_CLOSE ran out" "$(counter timer-close)" 1
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		printf '%s\n' "conn 1" "connect $PEER 5000" "first_contact" "tx data len=5"
		for i in 2 3 4; do printf '%s\n' "conn $i" "connect $PEER 5000" "reuse" "tx data len=5"; done
		cat <<-E
			let index=%peer_index rkey=%peer_rkey
			await closed
			start
			wait cdc has=C
			tx fin
			sleep 1s
			mark silent
			# nobody else gets it
			conn 5
			connect $PEER 5000
			tx proposal
			rx decline s=0 diag=0x06020000
			tx app len=5
			rx app len=5
			tx fin
			rx eof
			conn 4
			rx rst 10s
			elapsed 3s 6s
			mark over
			await free 20s
			conn 6
			connect $PEER 5000
			tx proposal
			rx accept first=0 index=%index rkey=%rkey
			tx confirm
			tx data len=5
			rx data len=5
			close
		E
		for i in 1 2 3; do printf '%s\n' "conn $i" "rx data len=5"; done
		# the program does not know which of them it accepted first
		for i in 1 2 3; do printf '%s\n' "conn $i" "tx cdc flags=C"; done
		for i in 1 2 3; do printf '%s\n' "conn $i" "wait cdc has=C" "tx fin" "rx eof" "tx close"; done
		echo "qp destroy"
	)
}
