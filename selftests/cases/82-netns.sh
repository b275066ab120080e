# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Namespaces: counters and knobs of their own, no RDMA device of another one,
# and the end of a namespace with listeners and connections in it.
#
# covers: CLC-05 T-15 MISC-20
# timeout: 90
# lanes: uml qemu
# tags: lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

in_ns() { ip netns exec "$@"; }
# The program itself and not a shell around it: kill has to reach it.
bg_ns() { bg ip netns exec "$@"; }

both_gone() { gone "$1" && gone "$2"; }

client() {
	local i
	for i in 1 2; do
		ip netns add n1
		ip netns add n2
		ip link add v1 netns n1 type veth peer name v2 netns n2
		ip -n n1 addr add 10.99.0.1/24 dev v1
		ip -n n2 addr add 10.99.0.2/24 dev v2
		ip -n n1 link set v1 up
		ip -n n2 link set v2 up
		paced v1 in_ns n1
		paced v2 in_ns n2
		peer_ids() { "$SMCCTL" show; in_ns n1 "$SMCCTL" show; in_ns n2 "$SMCCTL" show; }
		eq "each namespace has a peer ID of its own" "$(peer_ids | sed -n 's/^Peer ID *//p' | sort -u | wc -l)" 3
		in_ns n1 bash -c 'echo 0 > /proc/sys/net/smcr/enabled'
		eq "knobs are each namespace's own" "$(</proc/sys/net/smcr/enabled)$(in_ns n2 cat /proc/sys/net/smcr/enabled)" 11
		smc_reset
		bg_ns n1 "$PROG/xfer" server 5000 send=100k recv=100k
		local p=$BG
		n1_listens() { in_ns n1 ss -Hltn 'sport = :5000' | grep -q .; }
		poll 10 n1_listens
		bg_ns n1 tcpdump --immediate-mode -i v1 -n -U -c 2 -w "$(pcap "$i")" "tcp port 5000 and tcp[tcpflags] & tcp-syn != 0"
		local d=$BG
		poll 10 grep -q "listening on" "$CASEDIR/$ROLE-bg$_nbg.log"
		check "a connection in namespaces without RDMA is TCP" in_ns n2 "$PROG/xfer" client 10.99.0.1 5000 send=100k recv=100k
		check "server" wait "$p"
		wait "$d"
		eq "SYN and SYN-ACK" "$(any "$i" "$SYN")$(any "$i" "$SYNACK")" 11
		eq "neither has the option" "$(with "$i" "$SYN")$(with "$i" "$SYNACK")" 00
		eq "this namespace counted nothing" "$(($(smc_clients) + $(smc_fallbacks) - _smc_conns - _smc_falls))" 0
		eq "the other one did" "$(in_ns n2 "$SMCCTL" -j stats | jq '[.. | objects | ."client-fallbacks"? // empty] | add')" 1
		# with processes and connections in them
		bg_ns n1 "$PROG/xfer" server 5001 endless=1 idle=10000
		local a=$BG
		n1_listens2() { in_ns n1 ss -Hltn 'sport = :5001' | grep -q .; }
		poll 10 n1_listens2
		bg_ns n2 "$PROG/xfer" client 10.99.0.1 5001 endless=1 idle=10000
		local b=$BG
		nap 0.3
		ip netns del n1
		ip netns del n2
		check "they live on without a name" kill -0 "$a" "$b"
		kill -KILL "$a" "$b"
		check "and end with their programs" poll 5 both_gone "$a" "$b"
	done
	# this module's part of a namespace is freed with it, as rmmod and kmemleak show
}
