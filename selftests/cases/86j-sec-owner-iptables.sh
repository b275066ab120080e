# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# "iptables -m owner" matches the user of an AF_SMC socket as that of a TCP socket: a user
# that may not send gets nothing out, and the only user that may send can connect,
# exchange data and close. Security modules get the socket of accept() as a clone of its
# listener.
#
# covers: SEC-14
# timeout: 60
# lanes: qemu
# needs: iptables
# tags: sec stock
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

D=/tmp/owner
T=/sys/kernel/tracing

# user CALL...: sockcmd as an ordinary user
user() { setpriv --reuid 1234 --regid 1234 --clear-groups "$D/sockcmd" "$@"; }

# cloned N: security_sk_clone() was called so often since the last time
cloned() {
	local n
	n=$(grep -c 'skc:' $T/trace || :)
	echo > $T/trace
	echo "security_sk_clone: $n"
	[ "$n" = "$1" ]
}

server() {
	mount -t tracefs tracefs $T 2>/dev/null || :
	echo 'p:skc security_sk_clone' > $T/kprobe_events || skip "no kprobes"
	echo 1 > $T/events/kprobes/skc/enable
	bg "$PROG/sockcmd" limit:50 socket:tcp listen:5000 accept:0 recv:5 send:5 recv:1=eof close
	poll 10 listening 5000
	bg "$PROG/sockcmd" limit:50 slot:1 socket listen:5001 slot:2 accept:1 recv:5 send:5 recv:1=eof close \
		slot:3 accept:1 recv:5 send:5 recv:1=eof close
	poll 10 listening 5001
	echo > $T/trace
	mark ready
	await tcp
	check "TCP: the connection after its listener" cloned 1
	mark counted
	await smc
	check "SMC-R: both sockets after their listeners" cloned 2
	smc_reset
	mark counted2
	await over
	smc_was server 1
}

client() {
	mkdir -p "$D"
	cp "$PROG/sockcmd" "$D/"
	chmod -R a+rX "$D"
	await ready
	smc_reset
	check "TCP" user socket:tcp connect:"$PEER":5000 send:5 recv:5 close
	mark tcp
	await counted
	check "SMC-R" user socket connect:"$PEER":5001 send:5 recv:5 close
	mark smc
	await counted2

	# the user alone may send
	iptables -A OUTPUT -p tcp --dport 5001 -m owner --uid-owner 1234 -j ACCEPT
	iptables -A OUTPUT -p tcp --dport 5001 -m owner ! --socket-exists -j ACCEPT
	iptables -A OUTPUT -p tcp --dport 5001 -j DROP
	check "allowed user" user start socket connect:"$PEER":5001 send:5 recv:5 close
	check "others may not" "$PROG/sockcmd" limit:1 socket connect:"$PEER":5001=TIMEOUT
	iptables -F OUTPUT

	# the user may not send
	iptables -A OUTPUT -p tcp --dport 5001 -m owner --uid-owner 1234 -j REJECT
	check "refused user: TCP" user limit:10 socket:tcp connect:"$PEER":5001=ECONNREFUSED
	check "refused user: AF_SMC" user limit:10 socket connect:"$PEER":5001=ECONNREFUSED
	mark over
	smc_was client 2
}
