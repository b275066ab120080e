# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RoCE packets are lost. Before CONFIRM LINK is acknowledged the connection goes on with
# TCP; later it is reset, and no byte of it is ever sent on TCP. Otherwise TCP carries CLC
# alone, and keepalive works.
#
# covers: CLC-60 CLC-61 CLC-63 FO-20 KA-06 KA-07 KA-09 KA-10
# timeout: 120
# lanes: uml qemu
# fabric: roce -- packets: it reads RoCE packets, and loses some
# tags: wire fault
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"

# cut_ CHAINS MATCH: these packets are lost here
cut_() {
	local h
	nft add table ip cut
	for h in $1; do
		nft add chain ip cut "$h" "{ type filter hook $h priority 0 ; }"
		nft "add rule ip cut $h $2 drop"
	done
}
heal() { nft delete table ip cut; }

server() {
	local a b
	fast qp_timeout=13
	for i in 5001 5002; do
		[ $i = 5002 ] || cut_ output 'udp dport 4791'
		smc_reset
		bg "$PROG/xfer" server $i send=30k recv=30k
		a=$BG
		poll 10 listening $i
		mark up$i
		check "CONFIRM LINK is not acknowledged: server" wait "$a"
		tcp_was "server" 1
		[ $i = 5002 ] || heal
		mark healed$i
	done
	smc_reset
	bg "$PROG/xfer" server 5003 send=30k recv=30k
	a=$BG
	poll 10 listening 5003
	mark up5003
	check "the next one: server" wait "$a"
	smc_was "the next one" 1 1

	bg "$PROG/xfer" server 5000 endless=1 idle=$((20000 * SLOW))
	a=$BG
	poll 10 listening 5000
	mark up5000
	b=0
	wait "$a" || b=$?
	eq "the last link is lost: the server sees an error" "$b" 0
	# the reset of TCP may come before the server's own link fails; a connection made
	# in between rightly becomes TCP
	poll 30 no_group || fail "the server's group stays"

	app_bg limit:60 socket listen:5010 mark:up5010 slot:1 accept:0 recv:10 send:10 slot:2 accept:0 recv:10 send:10 await:kept \
		slot:1 recv:10 send:10 recv:1=eof close slot:2 recv:1=eof close \
		slot:3 accept:0 recv:10 send:10 "recv:1=ECONNRESET|ECONNABORTED" close
	app_end "keepalive: server"
}

client() {
	local i a b
	fast qp_timeout=13
	for i in 5001 5002; do
		await up$i
		[ $i = 5001 ] || cut_ output 'udp dport 4791'
		smc_reset
		check "CONFIRM LINK is not acknowledged: client" "$PROG/xfer" client "$PEER" $i send=30k recv=30k
		tcp_was "client" 1
		[ $i = 5001 ] || heal
		await healed$i
	done
	await up5003
	smc_reset
	check "the next one: client" "$PROG/xfer" client "$PEER" 5003 send=30k recv=30k
	smc_was "the next one" 1 1

	await up5000
	wire_start 'tcp port 5000 or tcp port 5010'
	bg "$PROG/xfer" client "$PEER" 5000 endless=1 idle=$((20000 * SLOW))
	a=$BG
	b=$(smc_sum bytes-rx)
	moving() { [ "$(smc_sum bytes-rx)" -gt $((b + 1000000)) ]; }
	poll 20 moving || fail "nothing moves"
	cut_ 'input output' 'udp dport 4791'
	b=0
	wait "$a" || b=$?
	eq "the last link is lost: the client sees an error" "$b" 0
	heal

	await up5010
	smc_reset
	app_bg limit:60 slot:1 socket keepalive:1 "connect:$PEER:5010" send:10 recv:10 \
		slot:2 socket "connect:$PEER:5010" send:10 recv:10 mark:idle await:kept slot:1 send:10 recv:10 close slot:2 close
	await idle
	smc_was "keepalive" 2 2
	nap 3.2
	eq "TCP is established" "$(ss -Htn state established 'dport = :5010' | wc -l)" 2
	mark kept
	app_end "keepalive: client"
	wire_stop

	# TCP alone does not get through
	app_bg limit:60 socket keepalive:1 "connect:$PEER:5010" send:10 recv:10 mark:last start "recv:1=ETIMEDOUT|ECONNRESET" close
	await last
	cut_ 'input output' 'meta l4proto tcp'
	app_end "TCP's keepalive fails: the end"
	heal
}

host() {
	wire_says faults
}
