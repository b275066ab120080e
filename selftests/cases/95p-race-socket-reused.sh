# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# send() of a page that never comes is about to be forwarded to TCP when its socket is
# disconnected by connect(AF_UNSPEC) and connected anew, to a server that could do SMC-R
# and does not answer. The call takes TCP's lock then, and holds it: no handshake waits
# for that lock, because the socket stays plain TCP. So does one whose calls have
# returned, and works. A socket that has sent nothing by TCP starts a handshake.
#
# module: none ours
# timeout: 60
# needs: uml latch
# why: its times are tried on UML only, and an emulated processor takes four times as long
# tags: race puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	bg "$PROG/sockcmd" limit:60 socket:tcp listen:5000 slot:1 accept:0 await:over close slot:2 accept:0 recvsome:5=any close \
		slot:3 accept:0 send:5 recv:5 recv:1=eof close slot:4 accept:0 recv:1=any close
	poll 10 listening 5000
	pup "a server that does not answer" <<-E
		listen 5001
		mark up
		await over
		conn 2
		listen 5002
		mark again
		accept
		rx proposal
		tx decline
		rx end
	E
	wait "$BG" || fail "server: plain TCP"
}

modes() { "$SMCCTL" -ja conn | jq -r '[.[] | select(.mode != "listen") | .mode] | join(" ")'; }

client() {
	local stuck log
	stuck_begin
	fast t_clc=1000
	await up
	latch tcp-forward
	bg "$PROG/stuck" "$PEER" 5000 1 again
	stuck=$BG log=$CASEDIR/$ROLE-bg$_nbg.log
	holds tcp-forward
	kill -USR1 "$stuck"
	check "connected again" eventually 10 grep -qx "again 1" "$log"
	unlatch tcp-forward
	check "the call hangs" eventually 10 grep -qx "stuck 1" "$log"
	nap 2
	eq "no handshake waits for it" "$(modes)" tcp
	eq "it is plain TCP, since it was before" "$(counter socket-reused)" 1
	kill "$stuck"
	check "it can be killed" eventually 20 gone "$stuck"
	mark over
	app "a second time" socket "connect:$PEER:5000" sendtext:hello disconnect "connect:$PEER:5000" recv:5 send:5 close
	eq "plain TCP as well" "$(counter socket-reused)" 2
	await again
	app "nothing was sent" socket "connect:$PEER:5000" disconnect "connect:$PEER:5002" close
	eq "no plain TCP before" "$(counter socket-reused)" 2
	eq "the server has heard of it" "$(counter clc-tx-proposal)" 1
	stuck_end
}
