# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases with a puppet peer: . "$PROG/puppet.sh"
#
#	pup DESC <<'E' ... E	a subtest: the script passes in the puppet
#	app DESC CALL...	a subtest: socket calls, see sockcmd.c
#	pup_bg, app_bg		the same in the background; end with pup_end or
#				app_end DESC

PUPPET=$PROG/puppet
SOCKCMD=$PROG/sockcmd

_synopt() {
	[ ! -d /sys/module/smcr_synopt ] || return 0
	local ko=$TREE/build/mod/$KERNEL/smcr_synopt.ko
	# The runner has built it where the kernel can have it.
	[ -e "$ko" ] || skip "$KERNEL has no CONFIG_SMC, which smcr_synopt.ko needs"
	# in the simulation both hosts are one kernel: the other one may load it at the same time
	insmod "$ko" 2> "$CASEDIR/synopt.err.$ROLE" || [ -d /sys/module/smcr_synopt ] || fail "insmod: $(cat "$CASEDIR/synopt.err.$ROLE")"
}

# Lines for the puppet as client, in <<-E by $(...)
# new NAME [PORT]: one more connection, by default to port 5000, and 5 bytes on it,
# which the program (of app_bg) has read before it goes on
new() {
	printf '%s\n' "conn $1" "connect $PEER ${2:-5000}" "reuse" "accepted" "tx data len=5" "taken"
}
# early NAME [PORT]: the same up to a Confirm that is not sent yet, and no bytes
early() { printf '%s\n' "conn $1" "connect $PEER ${2:-5000}" "reuse until=confirm" "tx confirm cut=0"; }
# host N: another host makes its first contact, and sends 5 bytes; conn N, link N
host() {
	printf '%s\n' "set peer_id=$(printf %04x "$1")525400000002" "conn $1" "link $1" \
		"connect $PEER 5000" "first_contact" "tx data len=5"
}
# done5: the peer's 5 bytes, and an orderly end
done5() { printf '%s\n' "rx data len=5" "close"; }
# tcp5: after a Decline, 5 bytes in each direction by TCP, and an orderly end
tcp5() { printf '%s\n' "tx app len=5" "rx app len=5" "tx fin" "rx eof"; }

# links N [CARDS]: link 1, and links 2 to N of its group, in turn over so many cards (2)
links() {
	local n
	for ((n = 2; n <= $1; n++)); do printf '%s\n' "link $n of 1" "nic $(rnic $(((n - 1) % ${2:-2})))"; done
	echo "link 1"
}

# two_link_group: first contact with two links, and 5 bytes, which the program has read before
# it goes on
two_link_group() {
	links 2
	printf '%s\n' "connect $PEER 5000" "first_contact until=add_link" "add_link 2" "accepted" "tx data len=5" "taken"
}

# elems_used N: so many elements are in use or in quarantine; null: there is no RMB
elems_used() { [ "$("$SMCCTL" -j rmb | jq '[.. | objects | select(has("used"))] | map(.used + .quarantined) | add')" = "$1" ]; }

pup() {
	local desc=$1; shift
	_synopt
	check "$desc" "$PUPPET" "$@"
}

app() {
	local desc=$1; shift
	check "$desc" "$SOCKCMD" "$@"
}

pup_bg() {
	_synopt
	cat > "$CASEDIR/$ROLE-script"
	"$PUPPET" "$@" "$CASEDIR/$ROLE-script" > "$CASEDIR/$ROLE-puppet.log" 2>&1 &
	_pup=$!
}
pup_end() {
	local rc=0
	wait "$_pup" || rc=$?
	cat "$CASEDIR/$ROLE-puppet.log"
	check "$1" test $rc = 0
}

app_bg() {
	"$SOCKCMD" -a "$@" > "$CASEDIR/$ROLE-app.log" 2>&1 &
	_app=$!
}
app_end() {
	local rc=0
	wait "$_app" || rc=$?
	cat "$CASEDIR/$ROLE-app.log"
	check "$1" test $rc = 0
}

# pup_second_address: a second address of this host, the source of what it sends to the server's
# second address, 10.77.0.101
pup_second_address() {
	ip addr add 10.77.0.102/24 dev eth0
	ip route add 10.77.0.101/32 dev eth0 src 10.77.0.102
}
