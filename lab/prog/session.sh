# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A short session to be captured and explained, by case 95 and by
# lab/lab-capture: . session.sh, in both guests at the same time
#
#	session_server SIZE...	a connection for each SIZE: so many bytes arrive, beginning with
#				the marker, then the client's end; the answer is 64 bytes
#	session_client ADDR SIZE...
#	ping_server ADDR	RDMA by verbs: set up by the connection manager, then SEND,
#	ping_client ADDR	READ and WRITE (rping)
#
# Needs $PROG, $CASEDIR (a folder of both guests) and $SLOW.

MARKER=smcr-lab-marker.
# shellcheck disable=SC2034
MARKER_HEX=736d63722d6c61622d6d61726b65722e

session_server() {
	local calls=(limit:30 socket listen:5000 mark:session) i=0 n
	for n in "$@"; do
		i=$((i + 1))
		calls+=("slot:$i" accept:0 recvtext:16 "recv:$((n - 16))" recv:1=eof "sendtext:$MARKER" send:48 close)
	done
	"$PROG/sockcmd" "${calls[@]}"
}

session_client() {
	local calls=(limit:30 await:session) to=$1 i=0 n
	shift
	for n in "$@"; do
		i=$((i + 1))
		calls+=("slot:$i" socket "connect:$to:5000" "sendtext:$MARKER" "send:$((n - 16))" shut:wr
			recvtext:16 recv:48 recv:1=eof close)
	done
	"$PROG/sockcmd" "${calls[@]}"
}

ping_server() { timeout $((20 * SLOW)) rping -s -a "$1" -p 7174 -C 2 -v; }

# rping does not wait for its server. When both pings are through it ends the
# connection, and has been seen not to come to an end itself.
ping_client() {
	local i
	for ((i = 0; i < 20; i++)); do
		timeout $((10 * SLOW)) stdbuf -oL rping -c -a "$1" -p 7174 -C 2 -S 64 -v > "$CASEDIR/rping" || :
		cat "$CASEDIR/rping"
		[ "$(grep -c '^ping data' "$CASEDIR/rping")" = 2 ] && return
		sleep 0.3
	done
	return 1
}
