# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# close() with data that the peer does not read: the connection goes on as long as the
# peer reads at all, and T_CLOSE longer; then it is aborted. A lingering close() returns
# when that happens, or when C is delivered, not when it is posted, and not when the peer
# has answered. C is not even posted before the completions of all that was written (a
# puppet without receives withholds them). A program that exits never lingers.
#
# covers: CONN-06 CONN-21 CONN-36 CONN-37 RMB-26
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	# the window of the puppet is 16384 bytes
	fast t_close=2500 t_abort=30000
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 sndbuf:200000 send:50000 start close elapsed:0:2000 mark:shut \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:slow \
		accept:0 recv:5 sndbuf:200000 send:50000 shut:wr mark:half sleep:4000 recv:5 close \
		accept:0 recv:5 send:5000 close mark:held \
		accept:0 recv:5 linger:20 mark:last close mark:gone \
		accept:0 recv:5 sndbuf:200000 send:50000 linger:60 mark:linger start close elapsed:200:5000 mark:back \
		slot:1 send:5 recv:1=eof close
	bg "$SOCKCMD" -a limit:60 socket listen:5001 slot:1 accept:0 recv:5 sndbuf:200000 send:50000 linger:60
	await posted 40
	# of two connections the one without a program: its data are written, not completed
	closing() { "$SMCCTL" -ja conn | jq -c '[.. | objects | select(has("tx-seq") and ."tx-seq" > 0)] | map([."tx-seq", .state])'; }
	eq "no C before the completions" "$(closing)" '[[1,"active"]]'
	mark seen
	await unsaid 40
	check "close() lingers as long as C is not delivered" test ! -e "$CASEDIR/mark.gone"
	mark lingers
	check "a program that exits" wait "$BG"
	mark exited
	app_end "server program"
	eq "T_CLOSE ran out" "$(counter timer-close)" 1
	eq "T_ABORT ran out" "$(smc_sum timer-abort)" 0
	eq "reason" "$(counter close-timeout)" 1
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# nothing is ever consumed: A, not C, and RST"
		new shut
		cat <<-E
			rx data len=16384
			await shut
			start
			wait cdc has=A hasnot=C,D 8s
			elapsed 2s 5s
			tx cdc flags=A
			rx rst
		E

		echo "# a little now and then: everything comes, after 4 s all in all"
		new slow
		cat <<-E
			await slow
			rx data len=16384
			sleep 1s
			consume 10000
			rx data len=10000
			sleep 1s
			consume 10000
			rx data len=10000
			sleep 1s
			consume 10000
			rx data len=10000
			sleep 1s
			consume 10000
			rx data len=3616
			wait cdc has=C
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# shutdown(WR) is no close: it has all the time (CONN-22)"
		new half
		cat <<-E
			await half
			rx data len=16384
			rx none 3s
			consume 16384
			rx data len=16384
			consume 16384
			rx data len=16384
			consume 16384
			rx data len=848
			wait cdc has=D hasnot=C
			tx data len=5
			tx cdc flags=D
			wait cdc has=C
			tx cdc flags=D,C
			rx eof
			tx fin
		E

		echo "# written, and nothing of it completed"
		cat <<-E
			let id=%peer_id
			conn held
			set peer_id=0002525400000002 rq=2 repost=0
			link held
			connect $PEER 5000
			first_contact
			fill
			tx data len=5
			await held
			sleep 200ms
			check untouched off=5000 len=1000
			check cdcs 0
			mark posted
			await seen
			qp receives 100
			rx data len=5000
			wait cdc flags=C
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# C alone is under way: close() lingers until it is delivered, not until the answer"
		cat <<-E
			conn last
			set peer_id=0003525400000002
			link last
			connect $PEER 5000
			first_contact
			tx data len=5
			await last
			sleep 500ms
			check cdcs 0
			mark unsaid
			await lingers
			qp receives 100
			wait cdc flags=C
			await gone
			tx cdc flags=C
			rx eof
			tx fin
			conn 1
			set peer_id=%id rq=256 repost=1
		E

		echo "# TCP is reset while close() lingers; our A comes late"
		new linger
		cat <<-E
			await linger
			rx data len=16384
			sleep 300ms
			tx rst
			wait cdc has=A
			await back
			tx cdc flags=A
		E

		echo "# the program has ended before anything is consumed; all of it comes nevertheless"
		new exits 5001
		cat <<-E
			rx data len=16384
			await exited
			consume 16384
			rx data len=16384
			consume 16384
			rx data len=16384
			consume 16384
			rx data len=848
			wait cdc has=C hasnot=A
			tx cdc flags=C
			rx eof
			tx fin
			conn 1
			rx data len=5
			close
		E
	)
}
