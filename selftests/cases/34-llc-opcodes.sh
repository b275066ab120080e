# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A message that is neither LLC nor CDC ends the link and its connections; unknown
# optional opcodes and immediate data have no effect.
#
# covers: LLC-01 LLC-06 LLC-07 LLC-08 MISC-13
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

z42=$(printf '00%.0s' {1..42})
DEADLY=(002c 052c 0a2c 3f2c 402c 7f2c c02c c12c ff2c 072b 072d fe2b fe00)
LENGTHS=(0 1 43 45 64 65 4096)
# messages that fit but for a byte behind them, or their last byte
NEARLY=("llc test_link add=00" "cdc add=00" "llc test_link cut=43" "cdc cut=43")

server() {
	local i calls=()
	log_all
	for i in "${DEADLY[@]}" "${LENGTHS[@]}" "${NEARLY[@]}" reply; do
		calls+=(accept:0 recv:5 send:5 recv:1=ECONNRESET close)
	done
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${calls[@]}" accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program"
	check "link failures are logged" grep -q "link .* failed: llc-opcode" <(messages)
	log_limited
	eq "unknown optional opcodes" "$(counter llc-optional)" 3
	eq "immediate data was counted" "$(counter rx-write-with-immediate)" 600

	pup_bg <<-E
		listen 5001
		mark up2
		accept
		first_contact
		rx data len=5
		tx send 052c$z42 expect=gone
		rx rst
		rx down
		qp destroy
		conn 2
		accept
		first_contact
		rx data len=5
		tx send len=45 expect=gone
		rx rst
		rx down
		qp destroy
		conn 3
		accept
		first_contact
		tx send 802c$z42
		tx data len=5
		rx data len=5
		close
	E
	pup_end "puppet as server"
}

dies() {
	n=$((n + 1))
	cat <<-E
		conn $n
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		$1
		rx rst
		rx down
		qp destroy
	E
}

client() {
	local n=0 i
	await up
	pup "unknown opcodes and impossible length bytes" < <(
		for i in "${DEADLY[@]}"; do dies "tx send $i$z42 expect=gone"; done)
	# the adapter itself refuses what exceeds its buffer
	pup "SENDs that are not 44 bytes long" < <(
		for i in "${LENGTHS[@]}"; do dies "tx send len=$i expect=$([ "$i" -gt 64 ] && echo any || echo gone)"; done)
	pup "messages with a byte too many or too few" < <(
		for i in "${NEARLY[@]}"; do dies "tx $i expect=gone"; done)
	pup "a reply that nobody asked for" < <(dies "tx llc confirm_link reply=1 expect=gone")
	pup "unknown optional opcodes" <<-E
		connect $PEER 5000
		first_contact
		tx send 802c$z42
		tx send 9f2c$z42
		tx send bf00$z42
		rx none 200ms
		tx data len=5
		rx data len=5
		close
	E
	# more than there are receives
	pup "immediate data with RDMA WRITE say nothing" < <(
		echo "set peer_id=0002525400000002"
		echo "connect $PEER 5000"
		echo "first_contact"
		for i in {1..600}; do echo "write off=0 len=5 imm"; done
		cat <<-E
			tx data len=5
			rx data len=5
			close
		E
	)
	await up2
	app "client: opcode" socket "connect:$PEER:5001" send:5 recv:1=ECONNRESET close
	app "client: length" socket "connect:$PEER:5001" send:5 recv:1=ECONNRESET close
	app "client: optional" socket "connect:$PEER:5001" recv:5 send:5 recv:1=eof close
}
