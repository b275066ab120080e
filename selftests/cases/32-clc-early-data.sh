# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Data and flags that overtake the Confirm are kept until it has come, and none is lost;
# impossible ones end the connection then.
#
# covers: CLC-44 CDC-19 CDC-32 CDC-46 CDC-48
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

IMPOSSIBLE=(cons=1 cons_wrap=1 prod=65536)

server() {
	local calls=()
	fast rmem=65536
	for _ in "${IMPOSSIBLE[@]}"; do calls+=(accept:0=ok recv:1=ECONNABORTED close); done
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 \
		slot:0 nonblock slot:2 await:early accept:0=EAGAIN mark:held slot:0 block \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close \
		slot:3 accept:0 recv:5 recv:1=eof send:5=EPIPE close \
		accept:0 recv:5 recv:1=eof send:5 close \
		slot:4 "${calls[@]}" \
		slot:5 accept:0 recv:65536 recv:1=eof close \
		slot:1 send:5 recv:1=eof close
	app_end "server program"
}

client() {
	local i
	await up
	pup "puppet as client" <<-E
		connect $PEER 5000
		first_contact
		tx data len=5
		conn early
		connect $PEER 5000
		reuse until=confirm
		tx confirm cut=0
		tx data len=5
		rx none 300ms
		mark early
		await held
		tx confirm
		rx data len=5
		close
		conn flags
		connect $PEER 5000
		reuse until=confirm
		tx confirm cut=0
		tx data len=5
		tx cdc flags=C
		tx confirm
		wait cdc has=C
		rx eof
		tx close
		# D is latched before the Confirm, too
		$(early latched)
		tx data len=5
		tx cdc flags=D
		tx cdc flags=0
		tx confirm
		rx data len=5
		wait cdc has=C
		tx cdc flags=D,C
		rx eof
		tx fin
		$(for i in "${IMPOSSIBLE[@]}"; do
			early "$i" && printf '%s\n' "tx cdc $i" "rx none 100ms" "tx confirm" "wait cdc has=A" "tx cdc flags=A" "rx rst"
		done)
		# the whole ring at once, right behind the Confirm
		conn full
		connect $PEER 5000
		reuse until=confirm
		tx confirm
		tx data len=65536
		close
		conn 1
		rx data len=5
		close
	E
}
