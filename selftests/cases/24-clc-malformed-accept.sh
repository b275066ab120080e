# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Where a client expects an Accept: malformed ones, other messages and other bytes end the
# TCP connection; reserved values and an unknown link are declined.
#
# covers: CLC-03 CLC-09 CLC-10 CLC-12 CLC-35 CLC-39 CLC-50
# module: none ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# shellcheck disable=SC2191
BAD=(xor@0=01 xor@1=01 xor@2=01 xor@3=01 xor@64=01 xor@65=01 xor@66=01 xor@67=01
	@4=03 @4=01 @4=09 @5=0043 @5=0045 @5=0000 @5=ffff @7=08 @7=28
	@45=00 @38=000000 "@16=00000000000000000000000000000000")
# reserved values
BSIZES=({6..15})
DECLINED=()
for i in 0 {6..15}; do DECLINED+=("mtu=$i 0x06050000"); done
for i in "${BSIZES[@]}"; do DECLINED+=("bsize=$i 0x06060000"); done

script() {
	local what n=0
	echo "listen 5001"
	echo "mark up"
	for what in "${BAD[@]}"; do
		n=$((n + 1))
		cat <<-E
			conn $n
			accept
			rx proposal
			qp create
			tx accept first=1 $what
			rx rst
			qp destroy
		E
	done
	cat <<-E
		# something that is no CLC message at all
		conn app
		accept
		rx proposal
		tx app "HTTP/1.0 200 OK and many more bytes"
		rx rst
		# a Proposal as the answer
		conn crossed
		accept
		rx proposal
		tx proposal
		rx rst
		# TCP ends in the middle
		conn cut
		accept
		rx proposal
		qp create
		tx accept first=1 cut=33
		tx fin
		rx end
		qp destroy
	E
	for what in "${DECLINED[@]}"; do
		n=$((n + 1))
		cat <<-E
			conn $n
			accept
			rx proposal
			qp create
			tx accept first=1 ${what% *}
			rx decline s=0 diag=${what#* }
			qp destroy
			rx app len=5
			tx app len=5
			tx fin
			rx eof
			tx close
		E
	done
	cat <<-E
		# F=0 with an unknown link: out of sync (I-10)
		conn sync
		accept
		rx proposal
		qp create
		tx accept first=0
		rx decline s=1 diag=0x04000000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		conn good
		accept
		first_contact
		rx data len=5
		tx data len=5
		close
	E
	for what in "${BSIZES[@]}"; do
		cat <<-E
			# the size is checked in reuse, too
			conn bsize$what
			accept
			rx proposal
			tx accept first=0 bsize=$what
			rx decline s=0 diag=0x06060000
			rx app len=5
			tx app len=5
			tx fin
			rx eof
			tx close
		E
	done
	cat <<-E
		# the MTU is checked in first contact only
		conn again
		accept
		rx proposal
		tx accept first=0 mtu=0
		rx confirm
		rx data len=5
		tx data len=5
		close
	E
}

server() { pup "server" < <(script); }

client() {
	local i bad=() tcp=() sizes=()
	for i in "${BAD[@]}"; do bad+=(socket "connect:$PEER:5001=EPROTO" close); done
	for i in "${DECLINED[@]}" sync; do
		tcp+=(socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close)
	done
	for i in "${BSIZES[@]}"; do
		sizes+=(socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close)
	done
	await up
	app "malformed: connect fails" "${bad[@]}"
	app "no CLC message" socket "connect:$PEER:5001=EPROTO" close
	app "not the message that is due" socket "connect:$PEER:5001=EPROTO" close
	app "FIN within a message" socket "connect:$PEER:5001=ECONNRESET" close
	app "declined: TCP" "${tcp[@]}"
	app "good" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	app "reserved Bsize in reuse: TCP" "${sizes[@]}"
	app "reserved MTU in reuse" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
