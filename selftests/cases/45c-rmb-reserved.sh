# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A peer that never sends C or A: its element stays with the connection until T_CLOSE has
# expired, or T_ABORT after a RST of its TCP connection, and is given to another
# connection afterwards. Until then there is no other element: a group's memory is bounded
# (max_rmbs_per_lgr). The element of a handshake that is declined after Accept has named it is
# kept for T_ABORT, too.
#
# covers: RMB-22 RMB-23 SEC-13
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet rmb conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local end=(slot:1 send:5 slot:2 send:5 slot:3 send:5 slot:1 recv:1=eof close slot:2 recv:1=eof close slot:3 recv:1=eof close)
	local how
	# four elements, and no more than that
	fast rmem=65536 max_rmbs_per_lgr=1 max_lgrs=1 t_close=3000 t_abort=2000 t_lgr_idle=300 t_llc=500
	for how in fin rst; do
		app_bg limit:30 socket listen:5000 "mark:up.$how" slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 slot:3 accept:0 recv:5 \
			slot:4 accept:0 recv:5 close "mark:closed.$how" \
			slot:5 accept:0 recv:5 send:5 recv:1=eof close \
			slot:4 accept:0 recv:5 send:5 recv:1=eof close "${end[@]}"
		await "silent.$how"
		check "$how: the element is reserved" elems_used 4
		await "over.$how" 20
		check "$how: it is free again" eventually 8 elems_used 3
		mark "free.$how"
		app_end "$how: server program"
		# the next peer's elements are counted alone
		check "$how: the group is gone" eventually 10 elems_used null
	done
	app_bg limit:30 socket listen:5000 mark:up.declined slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 slot:3 accept:0 recv:5 \
		slot:4 accept:0 recv:5 send:5 recv:1=eof close slot:4 accept:0 recv:5 send:5 recv:1=eof close \
		slot:4 accept:0 recv:5 send:5 recv:1=eof close "${end[@]}"
	app_end "declined: server program"
	eq "T_CLOSE ran out, T_ABORT after the reset" "$(counter timer-close) $(counter timer-abort)" "1 1"
}

# opened N: connections 1 to N, in a group of their own
opened() {
	local i
	printf '%s\n' "conn 1" "connect $PEER 5000" "first_contact" "accepted" "tx data len=5"
	for i in $(seq 2 "$1"); do printf '%s\n' "conn $i" "connect $PEER 5000" "reuse" "accepted" "tx data len=5"; done
}
# ended: connections 1 to 3 end in order
ended() {
	local i
	for i in 1 2 3; do printf '%s\n' "conn $i" "rx data len=5"; done
	# which of them the program has accepted first is not known
	for i in 1 2 3; do printf '%s\n' "conn $i" "tx cdc flags=C"; done
	for i in 1 2 3; do printf '%s\n' "conn $i" "wait cdc has=C" "tx fin" "rx eof" "tx close"; done
	echo "qp destroy"
}

# silent HOW: a connection that is closed by its program ends so, and the puppet sends no C
silent() {
	opened 4
	cat <<-E
		let index=%peer_index rkey=%peer_rkey
		await closed.$1
		start
		wait cdc has=C
		tx $1
		sleep 300ms
		mark silent.$1
		# no other connection gets the element
		conn 5
		connect $PEER 5000
		tx proposal
		rx decline s=0 diag=0x06020000
	E
	tcp5
	if [ "$1" = fin ]; then
		printf '%s\n' "conn 4" "rx rst 10s" "elapsed 2s 5s"
	else
		echo "sleep 2s"
	fi
	cat <<-E
		mark over.$1
		await free.$1 20s
		# that time, and as long again in quarantine after an end in disorder
		elapsed 3s 7s
		conn 6
		connect $PEER 5000
		tx proposal
		rx accept first=0 index=%index rkey=%rkey
		tx confirm
		tx data len=5
		rx data len=5
		close
	E
	ended
}

# declined: the puppet declines after Accept
declined() {
	opened 3
	printf '%s\n' "conn 4" "connect $PEER 5000" "tx proposal" "rx accept first=0" \
		"let index=%peer_index rkey=%peer_rkey" "start" "tx decline"
	tcp5
	printf '%s\n' "conn 5" "connect $PEER 5000" "tx proposal" "rx decline s=0 diag=0x06020000" "elapsed 0s 1s"
	tcp5
	printf '%s\n' "sleep 2500ms" "conn 6" "connect $PEER 5000" "tx proposal" "rx accept first=0 index=%index rkey=%rkey" \
		"tx confirm" "tx data len=5" "rx data len=5" "close"
	ended
}

client() {
	local how
	for how in fin rst; do
		await "up.$how" 30
		pup "$how: puppet as client" < <(silent $how)
	done
	await up.declined 30
	pup "declined: puppet as client" < <(declined)
}
