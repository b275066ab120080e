# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases that look at the wire: . "$PROG/wire.sh"
#
#	wire_start FILTER	capture what passes the cards of this guest: $WIRE_DEV, by default
#			eth0. For "any", WIRE_SNAP=9300: tcpdump reserves that for each packet
#	wire_stop
#	facts			the state that this host shows, for the checks
#	wire_says CHECK [READER]	in host(): the checks of lib/wire.py, or of another reader

wire_start() {
	tcpdump --immediate-mode -B 65536 -i "${WIRE_DEV:-eth0}" -n -s "${WIRE_SNAP:-0}" -U -w "$CASEDIR/wire.pcap" "$1" > "$CASEDIR/wire.dump" 2>&1 &
	_wire=$!
	poll 10 grep -q 'listening on' "$CASEDIR/wire.dump" || fail "tcpdump does not start"
}

wire_stop() {
	nap 0.3
	kill -INT "$_wire"
	wait "$_wire" || :
	check "no packet escaped the capture" grep -q '^0 packets dropped by kernel' "$CASEDIR/wire.dump"
}

facts() {
	local n=/sys/class/net i
	for i in sys:show lgr:lgr link:link conn:conn rmb:rmb; do
		"$SMCCTL" -ja "${i#*:}" | jq "{ \"${i%:*}\": . }"
	done > "$CASEDIR/facts$ID.parts"
	rdma -jd resource show qp | jq '{ qp: . }' >> "$CASEDIR/facts$ID.parts"
	for i in "$n"/eth*; do jq -n --arg d "${i##*/}" --arg m "$(<"$i/address")" '{ macs: { ($d): $m } }'; done >> "$CASEDIR/facts$ID.parts"
	{ cat /sys/class/infiniband/*/ports/1/gids/* 2>/dev/null || :; } | grep -v '^0000:0000:0000:0000:0000:0000:0000:0000' |
		jq -R . | jq -s '{ gids: . }' >> "$CASEDIR/facts$ID.parts"
	jq -s 'reduce .[] as $x ({}; . * $x) | .sys |= if type == "array" then .[0] else . end' \
		"$CASEDIR/facts$ID.parts" > "$CASEDIR/facts$ID.json"
}

wire_says() {
	local line rc=0
	python3 "${2:-$LIB/wire.py}" "$1" "$CASEDIR" > "$CASEDIR/wire.txt" 2> "$CASEDIR/wire.err" || rc=$?
	cat "$CASEDIR/wire.err"
	while IFS= read -r line; do
		case $line in
		ok\ *) check "${line#ok }" true ;;
		not\ ok\ *) check "${line#not ok }" false ;;
		esac
	done < "$CASEDIR/wire.txt"
	# a reader that prints nothing has checked nothing
	check "the checks came to their end (exit $rc)" test $rc -le 1 -a -s "$CASEDIR/wire.txt" -a ! -s "$CASEDIR/wire.err"
}
