# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred listeners, more than there ever were workers, each with a connection to
# accept and a thread that hangs in a page fault which is never answered: in
# setsockopt() of an option that TCP has, and in getsockopt() of one whose result TCP
# copies under its lock. Another listener accepts at once, with SMC-R and without, and
# the connections of others come to their end.
#
# covers: SEC-13
# timeout: 120
# lanes: qemu
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=600
SOCKCMD=$PROG/sockcmd

# hangs KIND ADDRESS: until the client has tried
hangs() {
	local hang log
	bg "$PROG/stuck" "$2" 20000 $N "listen-$1"
	hang=$BG log=$CASEDIR/server-bg$_nbg.log
	poll 60 grep -q "^stuck $N" "$log" || fail "the threads do not hang: $(cat "$log")"
	bg "$SOCKCMD" limit:40 socket listen:5000 slot:1 accept:0 recv:5 send:5 recv:1=eof \
		close slot:2 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5000
	mark "up.$1"
	await "over.$1" 60
	kill "$hang"
	check "they can be killed" eventually 30 gone "$hang" || :
}

server() {
	hangs ipopts 127.0.0.1
	hangs dstopts ::1
}

client() {
	local kind
	for kind in ipopts dstopts; do
		await up.$kind 90
		check "SMC-R beside $kind" "$SOCKCMD" start socket "connect:$PEER:5000" \
			send:5 recv:5 elapsed:0:2000 close || :
		check "TCP beside $kind" "$SOCKCMD" start socket:tcp "connect:$PEER:5000" \
			send:5 recv:5 elapsed:0:1000 close || :
		mark over.$kind
	done
}
