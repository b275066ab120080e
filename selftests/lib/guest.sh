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

# nic_address N [ADDRESS ADDRESS6]: ethN has these, by default what it has when a case begins. Who
# has several cards on a LAN sends by the one whose address it uses. Down, a card loses some of this.
nic_address() {
	local a=${2:-$(me "$1")} a6=${3:-$(me6 "$1")} v
	ip addr replace "$a/24" dev "eth$1" && ip addr replace "$a6/64" dev "eth$1" nodad || return
	[ -n "$LAN" ] || return 0
	ip route replace 10.77.0.0/24 dev "eth$1" src "$a" table $((100 + $1)) || return
	ip -6 route replace fd77::/64 dev "eth$1" table $((100 + $1)) || return
	for v in "-4 $a" "-6 $a6"; do
		# shellcheck disable=SC2086
		[ -n "$(ip ${v% *} rule show from ${v#* })" ] || ip ${v% *} rule add from ${v#* } table $((100 + $1)) || return
	done
}

# lan_sysctls: a card speaks for its own address only.
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

# put FILE TEXT...: one write of one line; who looks for the file waits until
# it is not empty (test -s), and so never reads half of it.
put() {
	local f=$1; shift
	printf '%s\n' "$*" > "$f"
}

# In milliseconds; ${EPOCHREALTIME/./} is the time in microseconds. All of this
# without $(...): a fork takes 25 ms on the debug kernel, and these loops run
# beside the test.
now() { echo $((${EPOCHREALTIME/./} / 1000)); }

# poll SECONDS CMD...: until CMD succeeds; SECONDS count SLOW-fold. In virtual
# time only looking costs something, so what takes long is looked at less often.
poll() {
	local n=0 end=$((${EPOCHREALTIME/./} + $1 * 1000000 * SLOW)); shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		if [ "$FABRIC" != sim ] || [ $((n += 1)) -le 20 ]; then nap 0.03; else nap 0.25; fi
	done
}

# paced DEV [CMD...]: in the simulation a wire needs time for what it carries, or
# whoever sends all the time would send for ever at one moment. CMD runs it there.
paced() {
	[ "$FABRIC" != sim ] || "${@:2}" tc qdisc add dev "$1" root netem delay 20us rate $((1000 / DEAR))mbit limit 10000
}

# insmod_smcr KO [PARAM=VALUE...]: with what it depends on; insmod alone does
# not look for that. (In the simulation that has been there from the start.)
insmod_smcr() {
	local m
	[ "$FABRIC$LANE" != simuml ] || { insmod "$@"; return; }
	for m in $(modinfo -F depends "$1" | tr , ' '); do modprobe "$m" || return; done
	insmod "$@"
}
