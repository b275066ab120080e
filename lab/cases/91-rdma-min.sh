# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The smallest RDMA: a capability in private data, a WRITE and a READ, with their
# packets on the wire; over IPv6 as well; rping 1000 times with its data
# compared. And the messages of the programs about wrong arguments, a port without
# a listener, and a machine without RDMA.
#
# module: none
# timeout: 90
# lanes: uml qemu
# needs: plain
# tags: rdma
# fabric: roce -- packets: it reads RoCE packets
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"

server() {
	rdma_server rc_min 7471
	mark one
	rdma_served rc_min
	rdma_server rc_min 7471
	mark two
	rdma_served rc_min
	# Its messages on stderr would be mixed with the lines.
	bg sh -c 'exec rping -s -a "$ME" -p 7174 -C 1000 -V -v 2> "$CASEDIR/rping.err"'
	poll 10 cm_listening 7174
	mark rping
	check "rping, server" wait "$BG"
	eq "rping, server: lines with data" "$(grep -c '^server ping data: rdma-ping-' "$CASEDIR/server-bg$_nbg.log")" 1000
}

pinged() {
	nap 0.2
	gone "$BG" || [ "$(wc -l < "$rping")" -ge 1000 ]
}

client() {
	local p rping
	wire_start 'not arp and not icmp6 and not igmp'
	await one
	rdma_client rc_min "$PEER" 7471
	nap 0.5
	wire_stop
	mv "$CASEDIR/rc_min.out" "$CASEDIR/rc_min.v4"
	await two
	rdma_client rc_min "$PEER6" 7471
	mv "$CASEDIR/rc_min.v4" "$CASEDIR/rc_min.out"

	await rping
	bg sh -c 'exec stdbuf -oL rping -c -a "$PEER" -p 7174 -C 1000 -V -v 2> "$CASEDIR/rping.err2"'
	rping=$CASEDIR/client-bg$_nbg.log
	poll 60 pinged || :
	eq "rping, client: lines with data" "$(grep -c '^ping data: rdma-ping-' "$rping")" 1000
	# rping may hang at its end: it joins its completion thread after the disconnection.
	if poll 3 gone "$BG"; then
		check "rping, client" wait "$BG"
	else
		echo "rping has done its work but does not end"
		kill -KILL "$BG"
		wait "$BG" || :
	fi
	eq "rping: data that differ" "$(cat "$CASEDIR"/rping.err* | grep -ci 'mismatch' || :)" 0

	says 1 "nobody listens on this port" "$RDMA/rc_min" client "$PEER" 7999
	says 1 "no answer within 1 s" "$RDMA/rc_min" server 7999 wait=1
	for p in rc_min write_imm caps ops; do
		says 2 "'server PORT' or 'client HOST PORT' is needed" "$RDMA/$p"
		says 2 "there is no option 'colour'" "$RDMA/$p" server 7999 colour=red
		says 2 "port: 0 is not 1 to 65535" "$RDMA/$p" client "$PEER" 0
		says 2 "port: 7k is not 1 to 65535" "$RDMA/$p" server 7k wait=1
		says 2 "port: 0x1d2f is not 1 to 65535" "$RDMA/$p" server 0x1d2f wait=1
		says 2 "port: 7k is not 1 to 65535" "$RDMA/$p" client "$PEER" 7k
	done
	says 2 "port: 65536 is not 1 to 65535" "$RDMA/rc_min" server 65536 wait=1
	says 2 "port: '' is not 1 to 65535" "$RDMA/rc_min" server '' wait=1
	says 2 "HOST is empty" "$RDMA/rc_min" client '' 7999
	says 1 "no RDMA device on the way to 127.0.0.1" "$RDMA/rc_min" client 127.0.0.1 7999
	bg "$RDMA/rc_min" server 07998 "$_limit"
	poll 10 cm_listening 7998 || fail "rc_min does not listen"
	says 1 "port 7998 is in use" "$RDMA/rc_min" server 7998 wait=1
	kill "$BG"
	says 2 "'server' is not KEY=VALUE" "$RDMA/qp_walk" server
	check "--help" grep -q '^usage: ' <("$RDMA/rc_min" --help)
	says 4 "no RDMA device 'rxe9'" "$RDMA/qp_walk" device=rxe9
	rnic_delete 0
	for p in rc_min write_imm caps ops; do
		says 4 "this machine has no RDMA device" "$RDMA/$p" client "$PEER" 7999
	done
	says 4 "this machine has no RDMA device" "$RDMA/qp_walk"
	rnic_add 0
}

host() {
	wire_says rc_min "$LAB/lib/rdmawire.py"
}
