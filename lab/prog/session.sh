# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A short session to be captured and explained, by case 95 and by
# lab/lab-capture: . session.sh, in both guests at the same time
#
#	session_server SIZE...	a connection for each SIZE: so many bytes from the client,
#				beginning with the marker, then its FIN; the answer is 64 bytes
#	session_client ADDR SIZE...
#	failover_server N	two cards each: a connection on each of two links; then the card of
#	failover_client ADDR N	one link drops all RoCE packets silently, and N bytes are sent
#				each way on both connections
#	ping_server ADDR	RDMA by verbs: set up by the connection manager, then SEND,
#	ping_client ADDR	READ and WRITE (rping)
#
# Needs $PROG, $CASEDIR (a folder of both guests) and $SLOW; failover also $SMCCTL.

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

two_links() { [ "$("$SMCCTL" -j link | grep -o '"state": *"rts"' | grep -c .)" = 2 ]; }

failover_server() {
	local n=$1 pid
	# shellcheck source=selftests/prog/nicfaults.sh
	. "$PROG/nicfaults.sh"
	"$PROG/sockcmd" limit:60 socket listen:5000 mark:session \
		slot:1 accept:0 recvtext:16 recv:11984 "sendtext:$MARKER" send:11984 \
		slot:2 accept:0 recvtext:16 recv:11984 "sendtext:$MARKER" send:11984 mark:both await:cut \
		"send:$n" slot:1 "send:$n" "recv:$n" slot:2 "recv:$n" recv:1=eof close slot:1 recv:1=eof close &
	pid=$!
	poll 30 two_links || return
	put "$CASEDIR/mark.links" yes
	poll 30 test -s "$CASEDIR/mark.both" || return
	rdma_silence 1
	put "$CASEDIR/mark.cut" yes
	wait "$pid"
}

failover_client() {
	"$PROG/sockcmd" limit:60 await:session \
		slot:1 socket "connect:$1:5000" "sendtext:$MARKER" send:11984 recvtext:16 recv:11984 await:links \
		slot:2 socket "connect:$1:5000" "sendtext:$MARKER" send:11984 recvtext:16 recv:11984 await:cut \
		"send:$2" slot:1 "send:$2" "recv:$2" slot:2 "recv:$2" shut:wr recv:1=eof close slot:1 shut:wr recv:1=eof close
}

ping_server() { timeout $((20 * SLOW)) rping -s -a "$1" -p 7174 -C 2 -v; }

# rping does not wait for its server. After both pings it ends the connection, and
# may then hang.
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
