# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What is cleared of an element whose connection has ended, with eye catchers and without.
# After an orderly end: the bytes that the peer has announced. A peer that has written more
# finds its own bytes there again. After an abort by the peer, a violation or a move of the
# peer, or if the ring has wrapped: all of the element.
#
# covers: RMB-13 SEC-09
# module: ours none
# timeout: 60
# needs: synopt
# allow-klog: bytes that the peer did not announce -- some connections leave such bytes
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

hex() { printf "$1%.0s" $(seq "$2"); }	# hex BYTE N
one_qp() { [ "$(rdma resource show qp | grep -c 'comm \[smcr' || :)" = 1 ]; }
reported() { messages | grep -q 'bytes that the peer did not announce'; }

# recvhex has a limit
ZEROS=("recvhex:60=$(hex 00 60)" "recvhex:100=$(hex 00 100)")
OLD="recvhex:60=$(hex 77 60)"

# server_elements NAME EYE_CATCHER: connections to port 5000; NAME is with or without
server_elements() {
	local end=(send:5 recv:1=eof close)
	fast rmem=65536 eye_catcher="$2"
	app_bg limit:20 socket listen:5000 "mark:up.$1" slot:9 accept:0 recv:5 slot:1 \
		accept:0 "$OLD" "${end[@]}" \
		accept:0 "$OLD" send:5 recv:1=ECONNRESET close \
		accept:0 "$OLD" "${end[@]}" \
		accept:0 "${ZEROS[0]}" "recvhex:100=$(hex 77 100)" "${end[@]}" \
		accept:0 "${ZEROS[@]}" "${end[@]}" \
		accept:0 "${ZEROS[@]}" "${end[@]}" \
		accept:0 recvsome:65000=WRONG-DATA send:5 recvsome:600=WRONG-DATA "${end[@]}" \
		accept:0 "$OLD" send:5 close \
		accept:0 "$OLD" send:5 close \
		accept:0 "${ZEROS[@]}" "${end[@]}" \
		accept:0 "${ZEROS[@]}" "${end[@]}" \
		accept:0 "${ZEROS[@]}" "${end[@]}" \
		slot:9 send:5 recv:1=eof close
	await "formed.$1"
	# until it has stopped, F would put the element into quarantine
	check "the link that was refused is gone" eventually 5 one_qp
	mark "single.$1"
	app_end "server program"
}

server() {
	server_elements with 1
	server_elements without 0
	[ ! -e /sys/module/smcr/parameters/race ] ||
		check "a test build reports bytes that were not announced" eventually 5 reported
}

# used NAME: a connection whose peer writes 160 bytes, and announces 60
used() {
	printf '%s\n' "conn $1" "connect $PEER 5000" "reuse" "let $1=%peer_index" "write off=$OFF len=160 byte=77" \
		"tx cdc advance=60" "rx data len=5"
}

# again NAME: the next one with that element announces 160 bytes, and writes none
again() {
	printf '%s\n' "conn $1b" "connect $PEER 5000" "tx proposal" "rx accept first=0 rkey=%rkey index=%$1" "tx confirm" \
		"tx cdc advance=160" "rx data len=5" "close"
}

client_elements() {
	local OFF=$((2 == $2 ? 0 : 4))
	await "up.$1"
	pup "elements that were used before, $1 eye catchers" < <(
		# one RMB of four elements, which are given out in turn: one stays in use
		printf '%s\n' "set no_eye=$((OFF ? 0 : 1)) peer_id=000${2}525400000002" "conn kept" "connect $PEER 5000" \
			"first_contact" "let rkey=%peer_rkey" "tx data len=5" "mark formed.$1"
		used orderly
		echo "close"
		used aborted
		printf '%s\n' "tx cdc flags=A" "wait cdc has=A" "rx rst" "await single.$1"
		used moved
		# as after a move; the message that F names has been received
		printf '%s\n' "tx cdc flags=F seq=%tx_ss" "close"
		again orderly
		again aborted
		again moved
		printf '%s\n' "conn wrapped" "connect $PEER 5000" "reuse" "let wrapped=%peer_index" \
			"write off=$OFF len=$((65536 - OFF)) byte=77" "tx cdc advance=65000" "rx data len=5" \
			"tx cdc advance=600" "rx data len=5" "close"
		used violated
		# the other side has sent C, so it answers a violation by RST alone, and waits for C
		printf '%s\n' "wait cdc has=C" "tx cdc prod=0xffffffff" "rx rst" "tx cdc flags=C"
		used both
		# with A the cursor has no effect
		printf '%s\n' "wait cdc has=C" "tx cdc advance=100 flags=C,A" "tx fin" "rx eof"
		again wrapped
		again violated
		again both
		printf '%s\n' "conn kept" "rx data len=5" "close" "qp destroy"
	)
}

client() {
	client_elements with 1
	client_elements without 2
}
