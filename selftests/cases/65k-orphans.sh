# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer has to read an eighth of its element in each T_CLOSE from a connection that the
# application has closed, else the connection is aborted as if nothing had been read. With
# more such connections than max_orphans the oldest one is aborted at once, and the others
# deliver everything.
#
# covers: SEC-13
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

server() {
	# the window of the puppet is 16384 bytes
	fast t_close=2000 t_abort=30000 max_orphans=2
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 sndbuf:200000 send:50000 close mark:trickle \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:eighth \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:one \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:two \
		accept:0 recv:5 sndbuf:200000 send:50000 close mark:three \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
	eq "T_CLOSE ran out" "$(counter timer-close)" 1
	eq "reason" "$(counter close-timeout)" 1
	eq "one too many" "$(counter orphans)" 1
}

# everything comes, and the end
both() {
	printf '%s\n' "conn $1" "rx data len=16384" "consume 16384" "rx data len=16384" "consume 16384" \
		"rx data len=16384" "consume 16384" "rx data len=848" "wait cdc has=C" "tx cdc flags=C" "rx eof" "tx fin"
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"

		echo "# a few bytes now and then"
		new trickle
		cat <<-E
			await trickle
			start
			rx data len=16384
			sleep 500ms
			consume 500
			sleep 500ms
			consume 500
			sleep 500ms
			consume 500
			wait cdc has=A hasnot=C,D 1s
			elapsed 1s 3s
			tx cdc flags=A
			rx rst
		E

		echo "# an eighth is enough"
		new eighth
		cat <<-E
			await eighth
			rx data len=16384
			$(for _ in {1..10}; do printf '%s\n' "sleep 500ms" "consume 1000"; done)
			rx data len=9000
			consume 15384
			rx data len=16384
			consume 16384
			rx data len=8232
			wait cdc has=C
			tx cdc flags=C
			rx eof
			tx fin
		E

		echo "# one orphan too many"
		new one && echo "await one"
		new two && echo "await two"
		new three && echo "await three"
		cat <<-E
			conn one
			wait cdc has=A hasnot=C,D 500ms
			tx cdc flags=A
			rx rst
			$(both two)
			$(both three)
			conn 1
			rx data len=5
			close
		E
	)
}
