# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The packets on the wires when one of two links is lost under load: for each direction of
# each connection, also of idle ones, F comes first on the new link, names a message that
# was acknowledged and takes no number; WRITEs use that link's keys; nothing of it goes
# over the old link any more. The link is deleted over the other one.
#
# covers: FO-02 FO-06 FO-07 FO-13 FO-15 CDC-09
# nics: 2/2
# timeout: 120
# fabric: roce -- packets: it reads RoCE packets
# tags: wire links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

server() {
	at_once max_links=2 eye_catcher=1 t_testlink=30000
	smc_reset
	app_bg limit:60 socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 \
		slot:4 accept:0 recv:5 send:5 await:over slot:1 recv:5 send:5 recv:1=eof close \
		slot:2 recv:5 send:5 recv:1=eof close slot:3 recv:5 send:5 recv:1=eof close \
		slot:4 recv:5 send:5 recv:1=eof close
	bg "$PROG/xfer" server 5001 conns=4 par=4 send=1200k recv=1200k wpause=30 rchunk=8k wchunk=8k idle=60000
	local load=$BG
	await capturing
	check "two links" eventually 10 have 2
	await loaded
	path_cut 1 1
	check "data are under way" kill -0 "$load"
	check "one link is left" eventually 20 have 1
	check "load" wait "$load"
	mark over
	app_end "server program"
	smc_was "server" 8 8
	check "connections moved" test "$(moved)" -ge 2
}

client() {
	at_once max_links=2 eye_catcher=1 t_testlink=30000
	await up
	smc_reset
	WIRE_DEV=any WIRE_SNAP=9300 wire_start "tcp port 5000 or tcp port 5001 or udp port 4791"
	mark capturing
	app_bg limit:60 slot:1 socket "connect:$PEER:5000" send:5 recv:5 mark:first await:two \
		slot:2 socket "connect:$PEER:5000" send:5 recv:5 slot:3 socket "connect:$PEER:5000" send:5 recv:5 \
		slot:4 socket "connect:$PEER:5000" send:5 recv:5 mark:idle await:over \
		slot:1 send:5 recv:5 close slot:2 send:5 recv:5 close slot:3 send:5 recv:5 close slot:4 send:5 recv:5 close
	check "two links" eventually 10 have 2
	mark two
	await idle
	bg "$PROG/xfer" client "$PEER" 5001 conns=4 par=4 send=1200k recv=1200k wpause=30 rchunk=8k wchunk=8k
	local load=$BG
	# all connections have carried load for some time
	check "load on both links" eventually 20 flows 200000
	mark loaded
	check "load" wait "$load"
	app_end "client program"
	smc_was "client" 8 8
	nap 0.5
	wire_stop
}

# flows N: the load has written so many bytes, over each of the two links
flows() { "$SMCCTL" -j link | jq -e "[.. | objects | select(.\"link-num\"?) | .\"tx-bytes\"] | length == 2 and min >= $1 / 2" > /dev/null; }

host() { wire_says failover "$LIB/wire_failover.py"; }
