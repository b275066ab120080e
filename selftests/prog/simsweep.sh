# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the sweep of faults (prog/simsweep): . "$PROG/simsweep.sh"
#
#	sweep STEP	faults at that step, on either side: those that a word of $SWEEP matches ('*': all),
#			or the N-th part of M (N%M); if it is empty, one in SWEEP_PARTS, by $SEED

# _sweep_host H: its two cards
_sweep_host() {
	local p
	for p in 0 1; do
		ip -n "h$1" addr add "10.77.$p.$1/24" dev "eth$p"
		ip -n "h$1" link set "eth$p" up
		paced "eth$p" ip netns exec "h$1"
	done
	ip -n "h$1" link set lo up
}

SWEEP_PARTS=20

_sweep_up() { ip netns exec h1 ping -qc1 -W1 "10.77.$1.2" > /dev/null; }

sweep() {
	local p line rc=0 without='' pattern=${SWEEP:-${SEED:-1}%$SWEEP_PARTS}
	# several patterns are one for fnmatch()
	[[ $pattern != *' '* ]] || pattern="@(${pattern// /|})"
	# memory that smcr gives up then, by design, is a leak for kmemleak
	[[ $KERNEL != um@(dbg|smp) ]] || without='*/dereg_mr=fail'
	[ "${FABRIC:-roce}" = sim ] || skip "no simulated RNIC"
	[ "$(< /sys/module/rnicsim/parameters/max_inline)" -ge 44 ] || skip "what may fail once is another RNIC's"
	ip netns add h1
	ip netns add h2
	for p in 0 1; do
		ip link add "w$p" mtu 9000 address "52:54:00:01:0$p:01" type veth \
			peer name "eth$p" netns h2 mtu 9000 address "52:54:00:01:0$p:02"
		ip link set "w$p" netns h1 name "eth$p"
	done
	_sweep_host 1
	_sweep_host 2
	for p in 0 1; do poll 5 _sweep_up $p; done
	"$PROG/simsweep" -x "$without" "$1" "$pattern" > "$CASEDIR/sweep.log" || rc=$?
	while read -r line; do
		case $line in
		'ok '*) _subtest ok "${line#ok }" ;;
		'not ok '*) _subtest 'not ok' "${line#not ok }" ;;
		*) echo "$line" ;;
		esac
	done < "$CASEDIR/sweep.log"
	[ $rc -le 1 ] || [ $rc = 4 ] || fail "simsweep ended with $rc"
	# the devices are removed with their cards
	for p in 0 1; do ip -n h1 link delete "eth$p"; done
	ip netns delete h1
	ip netns delete h2
	[ $rc -ne 4 ] || skip "no combination of $1 is '$pattern'"
}
