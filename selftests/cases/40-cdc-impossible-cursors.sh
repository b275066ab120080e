# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Impossible cursors end the connection (A and RST) and have no other effect; other
# connections of the link are not affected. A consumer cursor is impossible, too, if it is
# beyond what was written but not beyond what the program has sent.
#
# covers: CDC-19 CONN-24
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# Element of 64 KiB, five bytes written and read, nothing sent by the module: no room was
# announced for these bytes, so a ring from the start is all that the peer may write.
BAD=("prod=65536" "prod=0xffffffff" "prod=65540" "prod=4" "prod=0"
	"prod=1 prod_wrap=1" "prod=6 prod_wrap=1" "prod=5 prod_wrap=2" "prod=5 prod_wrap=0xffff" "prod=100 prod_wrap=2"
	"cons=1" "cons=65535" "cons=0x80000000" "cons_wrap=1" "cons=0 cons_wrap=0xffff" "cons=16384")

server() {
	local i n=0 calls=()
	fast rmem=65536
	for i in "${BAD[@]}"; do calls+=(accept:0 recv:5 recv:1=ECONNABORTED poll:0 send:1=EPIPE close); done
	calls+=(accept:0 recv:5 sndbuf:200000 send:50000 recv:1=ECONNABORTED poll:0 send:1=EPIPE close)
	app_bg limit:40 socket listen:5000 mark:up slot:2 accept:0 recv:5 slot:1 "${calls[@]}" slot:2 send:5 recv:5 recv:1=eof close
	app_end "server program"
	eq "violations" "$(($(counter cdc-cursor) + $(counter cdc-prod) + $(counter cdc-cons)))" $((${#BAD[@]} + 1))

	pup_bg < <(
		echo "listen 5001"
		echo "mark up2"
		echo "accept"
		echo "first_contact"
		for i in "prod=65536" "prod=6 prod_wrap=1" "cons=1"; do
			n=$((n + 1))
			cat <<-E
				conn $i
				accept
				reuse
				tx data len=5
				await got$n
				tx cdc $i
				wait cdc has=A
				tx cdc flags=A
				rx rst
			E
		done
		echo "conn 1"
		echo "tx data len=5"
		echo "close"
	)
	pup_end "puppet as server"
}

client() {
	local i n=10 calls=()
	await up
	pup "puppet as client" < <(
		cat <<-E
			connect $PEER 5000
			first_contact
			accepted
			tx data len=5
		E
		for i in "${BAD[@]}"; do
			n=$((n + 1))
			cat <<-E
				conn $n
				connect $PEER 5000
				reuse
				accepted
				tx data len=5
				taken
				tx cdc $i
				wait cdc has=A
				# what comes now is ignored
				tx cdc prod=5000
				tx cdc flags=A
				rx rst
			E
		done

		echo "# the window is closed, then too small to write; one byte more than was written"
		new unsent
		cat <<-E
			rx data len=16384
			check cdc has=B
			consume 100
			tx cdc cons=1 cons_wrap=1
			wait cdc has=A
			tx cdc flags=A
			rx rst
			conn 1
			rx data len=5
			tx data len=5
			close
		E
	)
	fast rmem=65536
	for i in 1 2 3; do calls+=(socket "connect:$PEER:5001" recv:5 "mark:got$i" recv:1=ECONNABORTED close); done
	await up2
	app "client program" slot:2 socket "connect:$PEER:5001" slot:1 "${calls[@]}" slot:2 recv:5 recv:1=eof close
}
