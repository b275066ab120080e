# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by everything that runs inside of a guest (and by host() parts).

PEER_ID=$((3 - ID))
FABRIC=${FABRIC:-roce}
# How many times as much everything costs as on a plain UML: amounts of work are
# divided by it. In the simulation nothing takes any time, but it costs all the same.
case $FABRIC$KERNEL in simumdbg) DEAR=3 ;; sim*) DEAR=1 ;; *) DEAR=$SLOW ;; esac
export DEAR
case $ID in 1) ROLE=server ;; 2) ROLE=client ;; *) ROLE=host ;; esac

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
	[ "$FABRIC" != sim ] || { insmod "$@"; return; }
	for m in $(modinfo -F depends "$1" | tr , ' '); do modprobe "$m" || return; done
	insmod "$@"
}
