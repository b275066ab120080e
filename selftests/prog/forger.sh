# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a second address of the puppet's host, the forger, names in a Confirm and in an
# Accept what is not its own. Its connection fails; the first one, whose group it names, goes on.
#
#	forger_server REASON DIAG FIELD=VALUE...
#	forger_client REASON FIELD=VALUE...
#
# With $FORGER_SET, settings of the puppet ("bsize=2").
# The fields are those of the Confirm and of the Accept; REASON is the counter of the failure, and
# DIAG the diagnosis in the client's Decline.
#
#	forged_accept NAME DIAG FIELD=VALUE...	lines for the puppet: connection NAME gets this
#				Accept, declines it, and is TCP
#	other_host ADDR		adds ADDR as an address of another host, with a MAC of its own:
#				always the same one, because the peer keeps it
#	other_host_undo		at the end, on both sides
#
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

FORGER_SET=${FORGER_SET:-}

forged_accept() {
	printf '%s\n' "conn $1" accept "rx proposal" "tx accept first=0 ${*:3}" \
		"rx decline s=0 diag=$2" "rx app len=5" "tx fin" "rx eof"
}

other_host() {
	# a LAN of several cards has these settings, and keeps them
	[ -n "$LAN" ] || sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
	ip link add mv0 link eth0 address "02:00:00:00:77:0$ID" type macvlan mode bridge
	ip addr add "$1/32" dev mv0
	ip link set mv0 up
}
other_host_undo() {
	barrier undo
	ip link del mv0
	[ -n "$LAN" ] || sysctl -qw net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.all.arp_announce=0
}

forger_server() {
	local reason=$1 diag=$2; shift 2
	ip addr add 10.77.0.101/24 dev eth0
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 mark:first \
		recv:5 send:5 recv:1=eof close
	app_end "server program: the first connection goes on"
	eq "the forger is known for it" "$(counter "$reason")" 1

	# shellcheck disable=SC2119
	pup_bg <<-E
		listen 5001
		mark up2
		set index=3 $FORGER_SET
		accept
		first_contact
		rx data len=5
		# the forger's Accept names the link of the first connection
		set index=4
		$(forged_accept forger "$diag" "$@")
		conn 1
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

forger_client() {
	local reason=$1; shift
	pup_second_address
	await up
	pup "a forged Confirm" <<-E
		set index=3 $FORGER_SET
		conn victim
		connect $PEER 5000
		first_contact
		tx data len=5
		await first
		conn forger
		set index=4
		connect 10.77.0.101 5000
		reuse until=confirm
		tx confirm $*
		rx rst
		conn victim
		tx data len=5
		rx data len=5
		close
	E
	await up2
	app "a forged Accept is declined" \
		socket "connect:$PEER:5001" send:5 slot:1 \
		socket connect:10.77.0.101:5001 send:5 recv:1=eof close \
		slot:0 recv:5 recv:1=eof close
	eq "with its reason" "$(counter "$reason")" 1
}
