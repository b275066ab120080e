# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# smcctl linkgroup balance, and net.smcr.balance. One of two links is lost under load in both directions, and all
# connections are on the other one. When it is back they stay there, until either host is asked to spread them: then
# each link has its half, no byte is lost, and nothing is reset. With one link, with an even load, without the
# privilege and for a group that is not there nothing happens; a group can end in the midst of it.
#
# covers: LG-47
# nics: 2/2
# timeout: 180
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"
N=8

balanced() { counter conn-balanced; }
balanced_is() { [ "$(balanced)" = "$1" ]; }
balance() { check "$ROLE: balance $1" "$SMCCTL" linkgroup balance "${@:2}"; }
# refused COMMAND...: its output and its status
refused() { "$@" 2>&1 || echo "status $?"; }
begin() {
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5000 conns=$N par=$N wpause=1 "${@:2}"
		poll 10 listening 5000
		mark "ready.$1"
	else
		await "ready.$1"
		bg "$PROG/xfer" client "$PEER" 5000 conns=$N par=$N wpause=1 "${@:2}"
	fi
	load=$BG
	says "$1: two links" '[.status, .conns] | tojson' "[\"active\",$((N / 2))] [\"active\",$((N / 2))]"
	barrier "two.$1"
}
# lost NAME CARD: the link over CARD is lost, so that all load is on the other one, and returns
lost() {
	[ "$ROLE" = client ] || path_cut "$2" "$2"
	check "$ROLE, $1: one link" eventually 20 have 1
	says "$1: all on one link" .conns "$N"
	barrier "one.$1"
	[ "$1" != hand ] || { balance "one link"; eq "one link: nothing moves" "$(balanced)" 0; }
	barrier "mend.$1"
	[ "$ROLE" = client ] || path_mend "$2" "$2"
}

by_hand() {
	local reset
	reset=$(counter cdc-validation)
	lost hand 1
	says "hand: two links again, and nothing moves by itself" '[.status, .conns] | tojson' "[\"active\",$N] [\"active\",0]"
	barrier back
	check "without the privilege" grep -qzP 'CAP_NET_ADMIN.*\nstatus 2' \
		<(refused setpriv --bounding-set=-all --inh-caps=-all "$SMCCTL" linkgroup balance)
	check "a group that is not there" grep -qzP 'no link group.*\nstatus 3' <(refused "$SMCCTL" linkgroup balance 4000000000)
	eq "nothing has moved" "$(balanced) $(links .conns)" "0 $N 0"
	if [ "$ROLE" = server ]; then balance "the group" "$(group '."lgr-id"')"; else balance all; fi
	says "hand: an even load" '[.conns, ."moved-in"] | tojson' "[$((N / 2)),$((N / 2))] [$((N / 2)),$((N / 2))]"
	eq "$ROLE: connections that moved for it" "$(balanced)" $((N / 2))
	balance again
	balance "the group, again" "$(group '."lgr-id"')"
	says "hand: data on both" '."tx-bytes" > 100000' "true true"
	eq "$ROLE: an even load is left alone" "$(balanced)" $((N / 2))
	eq "$ROLE: validation never failed" "$(counter cdc-validation)" "$reset"
	check "$ROLE: log" grep -qE "smcr: link group [0-9]+: $((N / 2)) connections are to move" <(messages)
	barrier even
}

by_knob() {
	sysctl -qw net.smcr.balance=1
	barrier knob
	lost knob 0
	says "knob: an even load" '[.status, .conns] | tojson' "[\"active\",$((N / 2))] [\"active\",$((N / 2))]"
	eq "$ROLE: connections that moved for it" "$(balanced)" $N
	sysctl -qw net.smcr.balance=0
	barrier knobbed
}

# the group ends while connections are on their way
in_the_midst() {
	local id
	lost end 1
	says "end: two links again" '[.status, .conns] | tojson' "[\"active\",$N] [\"active\",0]"
	barrier ends
	id=$(group '."lgr-id"')
	if [ "$ROLE" = server ]; then
		"$SMCCTL" linkgroup balance "$id"
		"$SMCCTL" linkgroup delete "$id"
		refused "$SMCCTL" linkgroup balance "$id"
	else
		refused "$SMCCTL" linkgroup balance
	fi
	wait "$load" || :
	check "$ROLE: no connection is left" eventually 20 smc_idle
	check "$ROLE: no group is left" eventually 20 no_group
	barrier ended
}

both() {
	local load
	at_once max_links=2 t_link_retry=2000
	log_all
	begin load until="$CASEDIR/enough"
	by_hand
	by_knob
	touch "$CASEDIR/enough"
	check "$ROLE: no error, and no wrong byte" wait "$load"
	smc_was "load" $N $N
	check "$ROLE: no connection is left" eventually 20 smc_idle
	barrier over 60
	check "$ROLE: no group is left" eventually 20 no_group
	barrier none
	begin end endless=1 rchunk=4k
	in_the_midst
}
server() { both; }
client() { both; }
