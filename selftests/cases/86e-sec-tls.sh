# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# TLS above the socket: openssl's client and server, unmodified. Handshake and
# records travel by RDMA, ciphertext only; nothing of them is on TCP.
#
# covers: SEC-06
# timeout: 60
# lanes: uml qemu
# fabric: roce -- packets: it reads RoCE packets
# tags: app sec
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"
WORD=PLAIN-TEXT-THAT-NOBODY-MAY-SEE

# In plain text 200 KB, all of it one word
plain() { yes "$WORD" | head -c 200000 || :; }

# tls_server PORT ARG...: a web server of one connection
tls_server() {
	local port=$1; shift
	plain > "$APPDIR/plain.$port"
	serve openssl s_server -accept "$port" -naccept 1 -key "$APPDIR/key" -cert "$CASEDIR/cert" -quiet -WWW "$@"
	poll 20 listening "$port" || fail "openssl does not listen"
}

server() {
	need openssl tcpdump
	openssl req -x509 -newkey rsa:2048 -nodes -keyout $APPDIR/key -out "$CASEDIR/cert" -days 1000 -subj /CN=smcr \
		2> "$CASEDIR/req.log" || fail "no certificate"
	cd $APPDIR || fail "no folder"
	plain > $APPDIR/plain
	smc_reset
	for p in 4433 4434 4435; do
		case $p in
		4433) tls_server $p -tls1_3 ;;
		4434) tls_server $p -tls1_2 ;;
		# unprotected: the capture can show plain text
		4435) serve socat -u FILE:$APPDIR/plain TCP-LISTEN:$p; poll 20 listening $p ;;
		esac
	done
	mark ready
	await over 40
	smc_was server 3 3
}

# fetch PORT ARG...
fetch() {
	local port=$1; shift
	printf 'GET /plain HTTP/1.0\r\n\r\n' |
		over openssl s_client -connect "$PEER:$port" -CAfile "$CASEDIR/cert" -verify_return_error -quiet -ign_eof "$@" \
			2> "$CASEDIR/s_client.$port" | sed '1,/^\r*$/d' > "$APPDIR/got.$port" || :
	check "TLS on port $port: what was sent arrives" cmp "$APPDIR/got.$port" "$APPDIR/want"
}

client() {
	local p
	need openssl tcpdump socat
	plain > $APPDIR/want
	await ready 40
	smc_reset
	wire_start "tcp or udp port 4791"
	fetch 4433 -tls1_3
	fetch 4434 -tls1_2
	check "without TLS: what was sent arrives" cmp $APPDIR/want <(over socat -u TCP:"$PEER":4435 -)
	wire_stop
	smc_was client 3 3
	mark over
}

# In the capture's packets that FILTER lets pass: how many contain $WORD
plain_in() { tcpdump -r "$CASEDIR/wire.pcap" -n -A "$1" 2> /dev/null | grep -c "$WORD" || :; }
bytes_in() { tcpdump -r "$CASEDIR/wire.pcap" -n "$1" 2> /dev/null | wc -l; }

host() {
	check "plain text is found where there is some" test "$(plain_in "udp port 4791")" -gt 10
	check "and not on TCP" test "$(plain_in tcp)" = 0
	tcpdump -r "$CASEDIR/wire.pcap" -n -xx "udp port 4791" 2> /dev/null | sed -n 's/^\t0x[0-9a-f]*: *//p' | tr -d ' \n' > "$CASEDIR/rdma.hex"
	check "handshakes are by RDMA (records 160303)" test "$(grep -o 160303 "$CASEDIR/rdma.hex" | wc -l)" -ge 4
	tcpdump -r "$CASEDIR/wire.pcap" -n -xx tcp 2> /dev/null | sed -n 's/^\t0x[0-9a-f]*: *//p' | tr -d ' \n' > "$CASEDIR/tcp.hex"
	check "none is on TCP" bash -c "! grep -q '16030[13]\|170303' '$CASEDIR/tcp.hex'"
	check "no large packet on TCP" test "$(bytes_in "tcp and greater 400")" = 0
}
