# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by everything that runs inside of a guest (and by host() parts).

PEER_ID=$((3 - ID))
FABRIC=${FABRIC:-roce}
# How many times as much everything costs as on a plain UML: amounts of work are
# divided by it. In the simulation nothing takes any time, but it costs all the same.
case $FABRIC$KERNEL in simumdbg|*umsmp) DEAR=3 ;; simum) DEAR=1 ;; *) DEAR=$SLOW ;; esac
export DEAR
# Under the data race detector a first contact takes longer than the 3 s for which other handshakes wait for it
[ "$KERNEL" != kcsan ] || export XFER_IN_TURN=1
case $ID in 1) ROLE=server ;; 2) ROLE=client ;; *) ROLE=host ;; esac

# Cards of this host and of its peer; on a LAN ($LAN) the two may differ.
if [ -n "${LAN:=}" ]; then
	case $ID in
	1) NICS=${LAN%/*} PEER_NICS=${LAN#*/} ;;
	2) NICS=${LAN#*/} PEER_NICS=${LAN%/*} ;;
	esac
fi
PEER_NICS=${PEER_NICS:-${NICS:-}}
export LAN NICS PEER_NICS

# me N, peer N, me6 N, peer6 N: addresses on ethN. On a LAN all are of the first subnet.
_addr() { if [ -n "$LAN" ]; then echo "10.77.0.$((10 * $1 + $2))"; else echo "10.77.$1.$2"; fi; }
_addr6() { if [ -n "$LAN" ]; then echo "fd77::$((10 * $1 + $2))"; else echo "fd77:$1::$2"; fi; }
me() { _addr "$1" "$ID"; }
peer() { _addr "$1" "$PEER_ID"; }
me6() { _addr6 "$1" "$ID"; }
peer6() { _addr6 "$1" "$PEER_ID"; }

# reached_from N: which cards of the peer ethN reaches
reached_from() {
	if [ -n "$LAN" ]; then seq 0 $((PEER_NICS - 1)); else echo "$1"; fi
}

# nic_address N [ADDRESS ADDRESS6]: give ethN these, by default those that it has when a case
# begins. A host with several cards on a LAN sends over the card whose address it uses. A card
# that is set down loses some of this.
nic_address() {
	local a=${2:-$(me "$1")} a6=${3:-$(me6 "$1")} v
	ip addr replace "$a/24" dev "eth$1" && ip addr replace "$a6/64" dev "eth$1" nodad || return
	[ -n "$LAN" ] || return 0
	ip route replace 10.77.0.0/24 dev "eth$1" src "$a" table $((100 + $1)) || return
	ip -6 route replace fd77::/64 dev "eth$1" table $((100 + $1)) || return
	for v in "-4 $a" "-6 $a6"; do
		# shellcheck disable=SC2086
		[ -n "$(ip ${v% *} rule show from ${v#* })" ] || ip ${v% *} rule add from ${v#* } pref $((1000 + $1)) table $((100 + $1)) || return
	done
}

# lan_sysctls: a card answers ARP for its own address only, and announces no other one.
lan_sysctls() {
	sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
}

# nap SECONDS: sleep without a fork (system calls are dear on UML, processes
# are dear under TCG).
if [ "$ROLE" = host ]; then
	nap() { sleep "$1"; }
else
	[ -p /run/smcr-nap ] || mkfifo /run/smcr-nap 2>/dev/null
	exec 9<> /run/smcr-nap
	nap() { read -rt "$1" -u 9 || :; }
fi

# put FILE TEXT...: one write of one line; a reader waits until the file is
# not empty (test -s), and so never reads half of the line.
put() {
	local f=$1; shift
	printf '%s\n' "$*" > "$f"
}

# now: the time in milliseconds; ${EPOCHREALTIME/./} is in microseconds. poll uses
# the latter, without $(...): a fork takes 25 ms on the debug kernel, and these
# loops run beside the test.
now() { echo $((${EPOCHREALTIME/./} / 1000)); }

# poll SECONDS CMD...: repeat CMD until it succeeds; SECONDS count SLOW-fold. In
# virtual time only CMD costs something, so it is run less often after a while.
poll() {
	local n=0 end=$((${EPOCHREALTIME/./} + $1 * 1000000 * SLOW)); shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		if [ "$FABRIC" != sim ] || [ $((n += 1)) -le 20 ]; then nap 0.03; else nap 0.25; fi
	done
}

# paced DEV [CMD...]: limit the rate of a wire in the simulation, where a program that
# sends all the time would otherwise send for ever at one instant. CMD is put before tc.
paced() {
	[ "$FABRIC" != sim ] || "${@:2}" tc qdisc add dev "$1" root netem delay 20us rate $((1000 / DEAR))mbit limit 10000
}

# insmod_smcr KO [PARAM=VALUE...]: load the module after those that it depends
# on, which insmod ignores. (In the simulation these are loaded from the start.)
insmod_smcr() {
	local m
	[ "$FABRIC$LANE" != simuml ] || { insmod "$@"; return; }
	for m in $(modinfo -F depends "$1" | tr , ' '); do modprobe "$m" || return; done
	insmod "$@"
}
