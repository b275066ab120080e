# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Retransmissions of a lost SYN or SYN-ACK carry the option if the first one does,
# whatever happens to net.smcr.enabled meanwhile and, for SYN-ACKs, whatever later copies
# of the SYN carry. Both sides come to the same result, also when one SYN of two loses the
# option. TCP sends the first retransmission after a second; steps that can wait for it
# together do so.
#
# covers: T-02 T-03 T-06 T-07 T-11
# timeout: 90
# tags: tcpopt
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"

X=$PROG/xfer
ENABLED=/proc/sys/net/smcr/enabled

syns() { echo "tcp dport $1 tcp flags & (syn|ack|rst) == syn"; }
synacks() { echo "tcp sport $1 tcp flags & (syn|ack|rst) == (syn|ack)"; }

# srv NAME PORT...: servers for the client's step NAME, in the background
srv() {
	local name=$1 port; shift
	_srv=()
	begin
	for port in "$@"; do
		bg "$X" server "$port" send=2k recv=1k
		_srv+=("$BG")
	done
	for port in "$@"; do poll 10 listening "$port"; done
	mark "up.$name"
}
served() {
	local pid
	for pid in "${_srv[@]}"; do check "$1: server" wait "$pid"; done
}

# clt PORT [HOST [FAM]]
_clt=()
clt() { bg "$X" client "${2:-$PEER}" "$1" fam="${3:-smc}" send=1k recv=2k; _clt+=("$BG"); }
done_() {
	local pid
	for pid in "${_clt[@]}"; do check "$1: client" wait "$pid"; done
	_clt=()
	watched
}

# copies NAME FILTER WITH: at least two, all with the option, or none
copies() {
	local n w
	n=$(any "$1" "$2") w=$(with "$1" "$2")
	check "$1: there are copies" test "$n" -ge 2
	if [ "$3" = yes ]; then
		eq "$1: copies with the option" "$w" "$n"
	else
		eq "$1: copies with the option" "$w" 0
	fi
}
# sent NAME FILTER: the first one is in the capture
sent() { [ "$(any "$1" "$2")" -ge 1 ]; }

server() {
	lose l1 input "$(syns 5001)"
	lose l3 input "$(syns 5003)"
	srv lost 5001 5002 5003 5004; served lost; saw lost "4 0 0"

	lose l5 input "$(syns 5005)"
	srv client-off 5005; served client-off
	mark client-off "$(since)"
	srv server-off 5006
	await lost.server-off
	echo 0 > $ENABLED
	mark server-is-off
	served server-off; saw server-off "0 1 0"
	srv server-on 5007
	await lost.server-on
	echo 1 > $ENABLED
	mark server-is-on
	served server-on; saw server-on "0 1 0"

	lose l8 input "$(syns 5008)"
	srv unlike 5008 5009 5010; served unlike; saw unlike "1 2 0"

	begin
	bg "$X" server 5011 conns=40 par=4 send=2k recv=1k
	poll 10 listening 5011
	mark up.mixed
	check "mixed: server" wait "$BG"
	local n all
	all=$(since) n=${all%% *}
	await mixed
	eq "mixed: both sides agree" "$all" "$MARK"
	eq "mixed: everybody is counted" "$all" "$n $((40 - n)) 0"
	check "mixed: there was both" test "$n" -gt 0 -a "$n" -lt 40
}

client() {
	# the first SYN, the first SYN-ACK, IPv4 and IPv6
	await up.lost; begin; watch lost 5001-5004
	lose l2 input "$(synacks 5002)"
	lose l4 input "$(synacks 5004)"
	clt 5001; clt 5002; clt 5003 "$PEER6"; clt 5004 "$PEER6"
	done_ lost
	copies lost "dst port 5001 and $SYN" yes
	copies lost "src port 5002 and $SYNACK" yes
	copies lost "dst port 5003 and $SYN" yes
	copies lost "src port 5004 and $SYNACK" yes
	saw lost "4 0 0"

	# switched off while the first SYN is lost
	await up.client-off; begin; watch client-off 5005
	clt 5005
	poll 10 sent client-off "$SYN" || fail "no SYN"
	echo 0 > $ENABLED
	done_ client-off
	echo 1 > $ENABLED
	copies client-off "$SYN" yes
	await client-off
	saw client-off "$MARK"

	# switched off at the server: it sends a Decline
	await up.server-off; begin; watch server-off 5006
	lose_all l6 input "$(synacks 5006)"
	clt 5006
	poll 10 lost l6 || fail "no SYN-ACK"
	mark lost.server-off
	await server-is-off; regain l6
	done_ server-off
	copies server-off "$SYNACK" yes; saw server-off "0 1 0"
	# and the reverse
	await up.server-on; begin; watch server-on 5007
	lose_all l7 input "$(synacks 5007)"
	clt 5007
	poll 10 lost l7 || fail "no SYN-ACK"
	mark lost.server-on
	await server-is-on; regain l7
	done_ server-on
	copies server-on "$SYNACK" no; saw server-on "0 1 0"

	# plain TCP; and the first SYN counts: the option is taken from the later
	# ones or from the first one, and no SYN-ACK gets through before the second
	await up.unlike; begin; watch unlike 5008-5010
	nft -f - <<-E
		table inet unlike {
			set again { type inet_service; flags dynamic; }
			chain out {
				type filter hook output priority 0
				$(syns 5009) numgen inc mod 1000 1 add @again { tcp dport }
				$(syns 5010) numgen inc mod 1000 1 add @again { tcp dport }
				$(syns 5009) numgen inc mod 1000 >= 1 reset tcp option 254
				$(syns 5010) numgen inc mod 1000 0 reset tcp option 254
			}
			chain in {
				type filter hook input priority 0
				$(synacks "{ 5009, 5010 }") tcp sport != @again drop
			}
		}
	E
	clt 5008 "$PEER" tcp; clt 5009; clt 5010
	done_ unlike
	copies unlike "dst port 5008 and $SYN" no
	eq "plain: SYN-ACKs with the option" "$(with unlike "src port 5008 and $SYNACK")" 0
	check "5009: one SYN had the option, others not" \
		test "$(with unlike "dst port 5009 and $SYN")" = 1 -a "$(any unlike "dst port 5009 and $SYN")" -ge 2
	copies unlike "src port 5009 and $SYNACK" yes
	check "5010: one SYN had no option, others had" \
		test "$(with unlike "dst port 5010 and $SYN")" -ge 1 -a \
		"$(with unlike "dst port 5010 and $SYN")" = $(($(any unlike "dst port 5010 and $SYN") - 1))
	copies unlike "src port 5010 and $SYNACK" no
	saw unlike "1 1 0"

	await up.mixed; begin
	nft "add table inet mixed; add chain inet mixed c { type filter hook output priority 0 ; }; add rule inet mixed c $(syns 5011) numgen random mod 2 == 0 reset tcp option 254"
	check "mixed: client" "$X" client "$PEER" 5011 conns=40 par=4 send=1k recv=2k
	mark mixed "$(since)"
}
