# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A handshake ends in plain TCP, and before the worker handles TCP's state a thread sends
# a page that never comes. The worker does not wait for TCP's lock, which that thread
# holds: the lock of the socket is free.
#
# module: none ours
# timeout: 60
# needs: uml latch
# why: its times are tried on UML only, and an emulated processor takes four times as long
# tags: race clc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	bg "$PROG/sockcmd" limit:60 socket:tcp listen:5000 slot:1 accept:0 await:over close
	poll 10 listening 5000
	mark up
	wait "$BG" || fail "server: plain TCP"
}

client() {
	local stuck log
	stuck_begin
	await up
	latch tcp-begin
	bg "$PROG/stuck" "$PEER" 5000 1 fallback
	stuck=$BG log=$CASEDIR/$ROLE-bg$_nbg.log
	holds tcp-begin
	nap 0.2		# the thread sends
	unlatch tcp-begin
	check "the call hangs" eventually 10 grep -qx "stuck 1" "$log"
	check "the socket's lock is free" eventually 5 grep -qx "locked 1" "$log"
	kill "$stuck"
	check "the thread can be killed" eventually 20 gone "$stuck"
	mark over
	stuck_end
}
