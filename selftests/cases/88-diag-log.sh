# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Events that an administrator needs are in the kernel log, with what is needed to find
# the other host and the object: Declines sent and received, negative answers about RKeys,
# damaged eye catchers, failed links. A peer cannot fill the log.
#
# covers: MISC-14
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet diag
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# a peer ID
HEX16='[0-9a-f]{16}'

# lines REGEX: how many lines of the kernel log since the case began
lines() { messages | grep -cE "smcr: $1" || :; }
has_lines() { [ "$(lines "$1")" -ge "$2" ]; }
# logged DESC REGEX [MIN [MAX]]: as many lines. Some are logged by a worker, after the event.
logged() {
	local n
	eventually 5 has_lines "$2" "${3:-1}" || :
	n=$(lines "$2")
	passes "$1 ($n lines)" test "$n" -ge "${3:-1}" -a "$n" -le "${4:-999}" || messages | grep smcr: | tail -20
}

server() {
	local calls=()
	log_all
	fast rmem=16384
	app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=ECONNABORTED close accept:0 recv:5 send:5 recv:1=ECONNRESET close
	app_end "server program"
	logged "a Decline that was sent: to whom, for what port, why" \
		"declined $PEER:[0-9]+, local port 5000, diagnosis 0x03070000: .*subnet" 1 1
	logged "a CONFIRM RKEY that was refused: group, peer, RKey" \
		"link group [0-9]+, peer $HEX16: RKey 0x55667788 refused" 1 1
	logged "a DELETE RKEY that was refused: group, peer, RKey" \
		"link group [0-9]+, peer $HEX16 withdraws RKey 0x99 that is unknown or in use" 1 1
	logged "a damaged eye catcher: group, peer, element, RMB, connection" \
		"link group [0-9]+, peer $HEX16: eye catcher of element [0-9]+ of RMB 0x[0-9a-f]+ was overwritten, token [0-9a-f]{8}" 1 1
	logged "a failed link: group, peer, link, why" \
		"link group [0-9]+, peer $HEX16: link [0-9]+ failed: llc-opcode" 1 1

	# a flood: 10 lines of it, or fewer if other messages come, and no more for as
	# long as the limit lasts, which counts from the first line after a pause
	message_cost 1
	nap 1.5
	calls=(accept:0 recv:1=eof close await:limited)
	for _ in {1..40}; do calls+=(accept:0 recv:1=eof close); done
	app_bg limit:40 socket listen:5002 mark:flood slot:1 "${calls[@]}"
	await first
	message_cost 300
	mark limited
	app_end "flood"
	eq "all of the flood was declined" "$(counter subnet)" 42
	logged "but not logged" "declined $PEER:[0-9]+, local port 5002" 5 10
	log_limited
	pup_bg <<-'F'
		listen 5004
		mark up4
		accept
		rx proposal
		tx decline diag=0x03010000
		rx app len=5
		tx app len=5
		rx eof
	F
	pup_end "puppet as server"
}

client() {
	log_all
	await up
	pup "puppet as client" <<-E
		conn declined
		connect $PEER 5000
		tx proposal net=10.78.0.0/24
		rx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		conn eye
		set no_eye=0
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		tx llc confirm_rkey rkey=0x55667788 va=0x7f0056780000 n=1 link1=9 rkey1=1 va1=2
		rx llc confirm_rkey reply=1 negative=1
		tx llc delete_rkey n=1 rkey1=0x99
		rx llc delete_rkey reply=1 negative=1
		write off=0 len=1 byte=55
		tx data len=5
		wait cdc has=A
		tx cdc flags=A
		rx rst
		conn link
		connect $PEER 5000
		reuse
		tx data len=5
		rx data len=5
		tx send 4f$(printf '%086d' 0) expect=gone
		rx rst
		rx down
		qp destroy
	E
	await flood 60
	pup "a flood" < <(
		for i in {0..40}; do
			printf '%s\n' "conn f$i" "connect $PEER 5002" "tx proposal net=10.78.0.0/24" "rx decline" "tx fin" "rx eof"
			[ "$i" != 0 ] || printf '%s\n' "mark first" "await limited"
		done
	)
	# the module as client: Decline and negative answer come from the peer
	await up4
	log_all
	app "declined" socket "connect:$PEER:5004" send:5 recv:5 close
	logged "a Decline that was received: from whom, why" "peer $HEX16 declined, diagnosis 0x03010000" 1 1
	log_limited
}
