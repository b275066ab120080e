# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bytes of later connections: reuse of the group or a new group, other addresses and
# families, another card, the other direction, parallel groups, the end of a group, a
# restart. Parsed by lib/wire.py.
#
# covers: CLC-05 CLC-16 CLC-19 CLC-21 CLC-23 CLC-24 CLC-31 CLC-42 CLC-66 CLC-67 CLC-70
# covers: LG-04 LG-14 RMB-01 RMB-07 RMB-09 RMB-18 RMB-27
# nics: 2
# module: none none
# timeout: 90
# lanes: uml qemu
# fabric: roce -- packets: it reads RoCE packets
# tags: wire
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"

MANY=40

# none DESC: the module has no RDMA object any more
none() {
	gone() { ! rdma resource show qp | grep -q smcr && ! rdma resource show mr | grep -q smcr && ! rdma resource show pd | grep -q smcr; }
	passes "$1: no queue pair, memory region, protection domain is left" eventually 10 gone || rdma resource show
}

server() {
	local i open=()
	load_smcr
	# the end of a group comes when a server's last connection has ended
	fast t_lgr_idle=700
	ip -6 addr add fd90:10::1/64 dev eth0 nodad
	for i in {1..8}; do open+=("slot:$i" accept:0 recv:1000 send:2000); done
	open+=(await:finish)
	for i in {1..8}; do open+=("slot:$i" recv:1=eof close); done
	for ((i = 0; i < MANY + 2; i++)); do open+=(slot:9 accept:0 recv:1000 send:2000 recv:1=eof close); done
	bg "$PROG/sockcmd" limit:60 slot:0 socket:smc6 listen:5000 mark:up "${open[@]}"
	local srv=$BG
	await limit
	fast max_conns_per_lgr=1
	mark limited
	await back
	fast max_conns_per_lgr=0
	bg "$PROG/sockcmd" limit:40 socket "connect:$PEER:5001" recv:1000 send:2000 mark:reversed await:finish close
	local back=$BG
	await reversed
	facts
	mark facts
	check "the other direction" wait "$back"
	none server
	mark none
	check "server program" wait "$srv"
}

# hold NAME CALL...: a connection that stays open
_held=0
hold() {
	echo "$1" >> "$CASEDIR/steps"
	_held=$((_held + 1))
	bg "$PROG/sockcmd" limit:60 "${@:2}" send:1000 recv:2000 "mark:open$_held" await:finish close
	await "open$_held"
}
short() {
	echo "$1" >> "$CASEDIR/steps"
	check "$1" "$PROG/sockcmd" socket "connect:$PEER:5000" send:1000 recv:2000 shut:wr recv:1=eof close
}

client() {
	local i
	load_smcr
	fast t_lgr_idle=700
	for i in {1..10}; do ip -6 addr add "fd90:$i::2/64" dev eth0 nodad; done
	ip addr add 10.77.0.12/24 dev eth0
	WIRE_DEV=any
	await up
	wire_start 'tcp port 5000 or tcp port 5001 or udp port 4791'
	hold first socket "connect:$PEER:5000"
	hold again socket "connect:$PEER:5000"
	hold big socket rcvbuf:100000 "connect:$PEER:5000"
	hold address socket bind:10.77.0.12:0 "connect:$PEER:5000"
	hold mapped socket:smc6 "connect:::ffff:$PEER:5000"
	hold ipv6 socket:smc6 bind:fd90:10::2:0 connect:fd90:10::1:5000
	hold card2 socket "connect:$(peer 1):5000"
	# with one more of this peer the group would be too large
	mark limit
	await limited
	hold parallel socket "connect:$PEER:5000"
	echo reverse >> "$CASEDIR/steps"
	bg "$PROG/sockcmd" limit:40 socket listen:5001 mark:back slot:1 accept:0 send:1000 recv:2000 recv:1=eof close
	await reversed
	facts
	await facts
	mark finish
	none client
	await none
	short after
	for ((i = 0; i < MANY; i++)); do short many; done
	unload_smcr
	load_smcr
	short reloaded
	wire_stop
}

host() {
	wire_says groups
}
