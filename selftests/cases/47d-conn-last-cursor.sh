# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer's C or A has a consumer cursor that opens the window, while data wait for it.
# Nothing is written any more: with A the connection ends, and with C, too, since what
# waits cannot be delivered.
#
# covers: CDC-45 CONN-14 CONN-27 CONN-31
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local reset=ECONNRESET
	# there the first write may complete after `fill`, which makes room for as much
	! real_time || reset="ECONNRESET|16384+ECONNRESET"
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:2 accept:0 recv:5 sndbuf:300000 await:full.a fill mark:go.a "send:100000=$reset" close \
		accept:0 recv:5 sndbuf:300000 await:full.c fill mark:go.c "send:100000=$reset" close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		printf '%s\n' first_contact accepted "tx data len=5"
		for flag in A C; do
			new "sending$flag"
			cat <<-E
				mark full.${flag,}
				rx data len=16384
				fill
				await go.${flag,}
				sleep 100ms
				tx cdc flags=$flag cons=0 cons_wrap=1
				# the next message, so no data
				rx cdc has=A prod=0 prod_wrap=1
				rx rst
				sleep 100ms
				check untouched
			E
			[ $flag = A ] || echo "tx cdc flags=A"
		done
		cat <<-E
			conn 1
			rx data len=5
			close
		E
	)
}
