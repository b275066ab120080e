# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A device posts the WRITE of a chain and refuses the CDC behind it. The link cannot be
# used any more: all connections of its group get an error at once, also a writer that
# waits for room; those of another group go on, and new ones get a new group. But the
# WRITE is pending, and reads the send buffer again whenever the device repeats it (here
# no packet reaches the peer, and the device is slow to enter the error state): close()
# does not free the buffer, the destruction of the queue pair does.
#
# covers: RMB-26 LG-44 CONN-32
# timeout: 90
# lanes: uml
# fabric: roce -- packets: it counts the packets of soft RoCE, and loses some
# tags: cdc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

one_group() { [ $(($(smc_sum lgr-created) - $(smc_sum lgr-freed))) = 1 ]; }
mem() { "$SMCCTL" -j show | jq '[.. | objects | .mem? // empty][0]'; }
fails() { echo "$2" > /sys/module/smcr_verbsfail/parameters/"$1"; }
sent() { cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts; }
sends_on() { [ "$(sent)" -gt "$before" ]; }
waits() { [ "$(</sys/module/smcr_verbsfail/parameters/held)" = 1 ]; }
# RMBs are made ahead of need
settled() { [ "$(mem)" = "$last" ] || { last=$(mem); return 1; }; }

deaf() {
	nft "add table inet deaf; add chain inet deaf c { type filter hook input priority 0; }
		add rule inet deaf c udp dport 4791 drop" || fail "nft cannot drop"
}

server() {
	# the reply to a TEST LINK of this host would be lost
	fast qp_timeout=15 t_testlink=0
	bg "$PROG/sockcmd" limit:40 socket listen:5000 mark:up \
		slot:1 accept:0 send:5 slot:2 accept:0 send:5 slot:1 recv:1=ECONNRESET slot:2 recv:1=ECONNRESET
	await armed
	deaf
	mark cut
	check "server: both are reset" wait "$BG"
	await live
	nft delete table inet deaf
	check "server: the group ends" eventually 20 no_group

	fast max_conns_per_lgr=1 t_testlink=1000
	bg "$PROG/sockcmd" limit:40 socket listen:5001 mark:up2 slot:2 accept:0 send:5 slot:1 accept:0 send:5 mark:reads \
		recv:1000000=any slot:2 recv:50000 send:50000 recv:1=eof close
	check "server: the writer's end" wait "$BG"
	mark reset
	check "server: an error" grep -q '^recv:1000000: .*ECONNRESET' "$CASEDIR/server-bg2.log"
	check "server: its group ends" eventually 20 one_group
	mark ended
	smc_serve after 5002
	smc_was after 1 1
}

client() {
	local begin before last=
	insmod "$TREE/build/mod/$KERNEL/smcr_verbsfail.ko"
	# a WRITE is repeated for 4 s; on a slow kernel for 15 s
	fast qp_timeout=$((SLOW > 1 ? 19 : 17))
	await up
	bg "$PROG/sockcmd" limit:20 slot:1 socket "connect:$PEER:5000" recv:5 slot:2 socket "connect:$PEER:5000" recv:5 \
		mark:both await:go slot:1 send:12000 start recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET elapsed:0:2000 close
	await both
	poll 10 settled || fail "memory in use goes on changing"
	begin=$(mem)
	fails hold_err 1
	fails post 1
	mark armed
	await cut
	mark go
	check "both have an error" wait "$BG"
	check "both are released" eventually 5 smc_idle
	check "the queue pair is not in error yet" waits
	before=$(sent)
	check "the WRITE is repeated" eventually 4 sends_on
	eq "what it reads is in use" "$(($(mem) - begin))" 16384
	mark live
	fails hold_err 0
	check "the group ends" eventually 20 no_group
	eq "nothing is in use" "$(mem)" 0

	# what the server sends when its writer is reset arrives: only TEST LINK ends its group
	await up2 30
	fails hold_err 1
	fails post 5
	bg "$PROG/sockcmd" limit:20 slot:2 socket "connect:$PEER:5001" recv:5 slot:1 socket "connect:$PEER:5001" recv:5 \
		await:reads start send:1000000=any recv:1=eof elapsed:0:3000 close slot:2 send:50000 recv:50000 close
	check "a writer in the midst, and one in another group" wait "$BG"
	check "an error" grep -q '^send:1000000: .*ECONNRESET' "$CASEDIR/client-bg2.log"
	await reset
	fails hold_err 0
	eq "that chain has failed" "$(</sys/module/smcr_verbsfail/parameters/post)" 0
	check "its group ends" eventually 20 one_group
	eq "links that failed" "$(smc_sum link-down)" 2
	await ended 30
	await up.after 20
	smc_reset
	check "after it" "$PROG/xfer" client "$PEER" 5002 send=30k recv=50k
	smc_was after 1 1
	rmmod smcr_verbsfail
}
