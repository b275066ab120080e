# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# When SYN or SYN-ACK is lost its copies say what the first one said: whatever
# happens to net.smcr.enabled meanwhile, and, for SYN-ACKs, whatever is left of
# later copies of the SYN. Both sides come to the same verdict, also when one
# SYN of two loses the option.
#
# covers: T-02 T-03 T-06 T-07 T-11
# timeout: 120
# tags: tcpopt wip
# wip: has not been run yet
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

X=$PROG/xfer
SYN6='ip6[53] & 0x12 == 2'
SYNACK6='ip6[53] & 0x12 == 0x12'
ENABLED=/proc/sys/net/smcr/enabled

syns() { echo "tcp dport $1 tcp flags & (syn|ack|rst) == syn"; }
synacks() { echo "tcp sport $1 tcp flags & (syn|ack|rst) == (syn|ack)"; }

# srv NAME PORT: one server for the client's step NAME, in the background
srv() {
	smc_reset
	bg "$X" server "$2" send=2k recv=1k
	_srv=$BG
	poll 10 listening "$2"
	mark "up.$1"
}
served() { check "$1: server" wait "$_srv" || :; }

clt() { bg "$X" client "$2" "$3" fam="${4:-smc}" send=1k recv=2k; _clt=$BG; }
done_() { check "$1: client" wait "$_clt" || :; watched; }

# copies NAME FILTER WITH: at least two, all with the option, or none
copies() {
	local n w
	n=$(any "$1" "$2") w=$(with "$1" "$2")
	check "$1: there are copies" test "$n" -ge 2 || :
	if [ "$3" = yes ]; then
		eq "$1: copies with the option" "$w" "$n" || :
	else
		eq "$1: copies with the option" "$w" 0 || :
	fi
}
# sent NAME FILTER: the first one is in the capture
sent() { [ "$(any "$1" "$2")" -ge 1 ]; }

server() {
	local n
	lose l1 input "$(syns 5001)"; srv syn 5001; served syn; smc_was syn 1 1
	srv synack 5002; served synack; smc_was synack 1 1
	lose l3 input "$(syns 5003)"; srv plain 5003; served plain; tcp_was plain 1
	lose l4 input "$(syns 5004)"; srv syn6 5004; served syn6; smc_was syn6 1 1
	srv synack6 5005; served synack6; smc_was synack6 1 1

	lose l6 input "$(syns 5006)"; srv client-off 5006; served client-off
	mark client-off "$(($(smc_servers) - _smc_conns)) $(($(smc_fallbacks) - _smc_falls))"
	srv server-off 5007
	await lost.server-off
	echo 0 > $ENABLED
	mark server-is-off
	served server-off; tcp_was server-off 1
	srv server-on 5008
	await lost.server-on
	echo 1 > $ENABLED
	mark server-is-on
	served server-on; tcp_was server-on 1

	srv syn-loses-it 5009; served syn-loses-it; smc_was syn-loses-it 1 1
	srv syn-gets-it 5010; served syn-gets-it; tcp_was syn-gets-it 1

	smc_reset
	bg "$X" server 5011 conns=40 par=4 send=2k recv=1k
	poll 10 listening 5011
	mark up.mixed
	check "mixed: server" wait "$BG" || :
	n=$(($(smc_servers) - _smc_conns))
	eq "mixed: everybody is counted" "$((n + $(smc_fallbacks) - _smc_falls))" 40 || :
	await mixed
	eq "mixed: both sides agree about SMC-R" "$n" "$MARK" || :
	check "mixed: there was both" test "$n" -gt 0 -a "$n" -lt 40 || :
}

client() {
	await up.syn; smc_reset; watch syn 5001
	clt syn "$PEER" 5001; done_ syn
	copies syn "$SYN" yes; smc_was syn 1 1

	await up.synack; smc_reset; watch synack 5002
	lose l2 input "$(synacks 5002)"
	clt synack "$PEER" 5002; done_ synack
	check "synack: one was lost" lost l2 || :
	copies synack "$SYNACK" yes; smc_was synack 1 1

	await up.plain; watch plain 5003
	clt plain "$PEER" 5003 tcp; done_ plain
	copies plain "$SYN" no
	eq "plain: SYN-ACKs with the option" "$(with plain "$SYNACK")" 0 || :

	await up.syn6; smc_reset; watch syn6 5004
	clt syn6 "$PEER6" 5004; done_ syn6
	copies syn6 "$SYN6" yes; smc_was syn6 1 1
	await up.synack6; smc_reset; watch synack6 5005
	lose l5 input "$(synacks 5005)"
	clt synack6 "$PEER6" 5005; done_ synack6
	copies synack6 "$SYNACK6" yes; smc_was synack6 1 1

	# switched off while the first SYN is lost
	await up.client-off; smc_reset; watch client-off 5006
	clt client-off "$PEER" 5006
	poll 10 sent client-off "$SYN" || fail "no SYN"
	echo 0 > $ENABLED
	done_ client-off
	echo 1 > $ENABLED
	copies client-off "$SYN" yes
	await client-off
	eq "client-off: both sides agree" "$(($(smc_clients) - _smc_conns)) $(($(smc_fallbacks) - _smc_falls))" "$MARK" || :

	# the server: says so in a Decline
	await up.server-off; smc_reset; watch server-off 5007
	lose l7 input "$(synacks 5007)"
	clt server-off "$PEER" 5007
	poll 10 lost l7 || fail "no SYN-ACK"
	mark lost.server-off
	await server-is-off
	done_ server-off
	copies server-off "$SYNACK" yes; tcp_was server-off 1
	# and the reverse
	await up.server-on; smc_reset; watch server-on 5008
	lose l8 input "$(synacks 5008)"
	clt server-on "$PEER" 5008
	poll 10 lost l8 || fail "no SYN-ACK"
	mark lost.server-on
	await server-is-on
	done_ server-on
	copies server-on "$SYNACK" no; tcp_was server-on 1

	# the first SYN counts: SYN-ACK and second SYN cross each other's copies
	await up.syn-loses-it; smc_reset; watch syn-loses-it 5009
	lose l9 input "$(synacks 5009)"
	mangle output "$(syns 5009) numgen inc mod 1000 >= 1" syn:strip
	clt syn-loses-it "$PEER" 5009; done_ syn-loses-it
	unmangle syn-loses-it
	check "syn-loses-it: one SYN had the option, others not" test "$(with syn-loses-it "$SYN")" = 1 -a "$(any syn-loses-it "$SYN")" -ge 2 || :
	copies syn-loses-it "$SYNACK" yes; smc_was syn-loses-it 1 1
	await up.syn-gets-it; smc_reset; watch syn-gets-it 5010
	lose l10 input "$(synacks 5010)"
	mangle output "$(syns 5010) numgen inc mod 1000 == 0" syn:strip
	clt syn-gets-it "$PEER" 5010; done_ syn-gets-it
	unmangle syn-gets-it
	check "syn-gets-it: the first SYN had no option, others had" test "$(with syn-gets-it "$SYN")" -ge 1 -a "$(any syn-gets-it "$SYN")" -gt "$(with syn-gets-it "$SYN")" || :
	copies syn-gets-it "$SYNACK" no; tcp_was syn-gets-it 1

	await up.mixed; smc_reset
	nft "add table inet mixed; add chain inet mixed c { type filter hook output priority 0 ; }; add rule inet mixed c $(syns 5011) numgen random mod 2 == 0 reset tcp option 254"
	check "mixed: client" "$X" client "$PEER" 5011 conns=40 par=4 send=1k recv=2k || :
	eq "mixed: everybody is counted" "$(($(smc_clients) - _smc_conns + $(smc_fallbacks) - _smc_falls))" 40 || :
	mark mixed "$(($(smc_clients) - _smc_conns))"
}
