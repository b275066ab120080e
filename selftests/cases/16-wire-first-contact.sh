# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bytes of a first contact, of some data and of the end, in the mode that follows the
# RFC alone (eye_catcher=1). An independent reader (lib/wire.py) parses the packets and
# compares them with the state that both hosts, the kernel's RDMA core and the cards show.
#
# covers: CLC-15 CLC-18 CLC-30 CLC-47 CLC-49 CLC-65
# covers: LG-02 LG-09 LG-15 LG-26 LG-53 LLC-01 LLC-02 LLC-19 LLC-27 RMB-02 RMB-17
# covers: CDC-01 CDC-03 CDC-04 CDC-08 CDC-12 CDC-18 CDC-44 CONN-03 MISC-15 MISC-22
# timeout: 60
# lanes: uml qemu
# fabric: roce -- packets: it reads RoCE packets
# tags: wire
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"

# LG-53: the log of this case has it, with the number of the group
not_redundant() {
	check "the group is said not to be redundant" grep -qE 'smcr: link group [0-9]+ is not redundant' <(messages)
	log_limited
}

server() {
	log_all
	fast eye_catcher=1 rmem=16384
	smc_reset
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:70000 send:70000 await:seen recv:10 recv:1=eof close
	await open
	facts
	mark facts
	app_end "server program"
	smc_was server 1 1
	not_redundant
	check "every connection is released" eventually 10 smc_idle
}

client() {
	log_all
	fast eye_catcher=1 rmem=32768
	wire_start 'tcp port 5000 or udp port 4791'
	await up
	smc_reset
	app_bg limit:40 socket "connect:$PEER:5000" send:70000 recv:70000 mark:open await:seen send:10 shut:wr recv:1=eof close
	await open
	facts
	await facts
	mark seen
	app_end "client program"
	smc_was client 1 1
	not_redundant
	check "every connection is released" eventually 10 smc_idle
	nap 0.5
	wire_stop
}

host() {
	wire_says first
}
