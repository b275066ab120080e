# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Both sides decline at once: the first bytes after a host's own Decline are the peer's,
# if they are a complete Decline, and no application reads them. After a Decline that the
# peer's cannot cross, all bytes are the application's.
#
# covers: CLC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

echo5=(accept:0 recv:5 send:5 recv:1=eof close)

server() {
	local before
	# 4 ms x 7: CONFIRM LINK is not acknowledged
	fast qp_timeout=10 t_llc_first=1500
	before=$(counter clc-rx-decline)
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${echo5[@]}" \
		accept:0 recv:28=WRONG-DATA send:5 recv:1=eof close \
		accept:0 recv:5 recv:28=WRONG-DATA send:5 recv:1=eof close \
		accept:0 recv:20=WRONG-DATA send:5 recv:1=eof close \
		accept:0 recvhex:28=e2d4c3d904001c1000025254000000020000000000000000e2d4c3d9 send:5 recv:1=eof close
	app_end "server program"
	eq "Declines that were seen" $(($(counter clc-rx-decline) - before)) 2
	pup_bg <<-'E'
		listen 5001
		mark up2
		# the CONFIRM LINK reply finds no queue pair: the client declines, and so
		# does the server
		accept
		first_contact until=rts
		qp rtr psn=-8
		qp rts
		tx llc confirm_link
		rx decline s=0 diag=0x02010000
		tx decline diag=0x02010000
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		qp destroy
		set peer_id=0003525400000001
		# out of sync, as there is no such link
		conn sync
		accept
		rx proposal
		qp create
		tx accept first=0
		rx decline s=1 diag=0x04000000
		tx raw e2d4c3d904001c10%{peer_id}0000000000000000e2d4c3d9
		rx app len=5
		tx fin
		rx eof
		qp destroy
	E
	pup_end "puppet as server"
}

# crossed: up to the server's Decline
crossed() {
	printf '%s\n' "connect $PEER 5000" "first_contact until=qp" "qp create" "qp rtr psn=-8" "tx confirm" "rx decline s=0 diag=0x02010000"
}

client() {
	local before
	await up
	pup "puppet as client" <<-E
		conn once
		$(crossed)
		tx decline diag=0x02010000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		qp destroy
		conn twice
		$(crossed)
		tx decline diag=0x02010000
		tx decline diag=0x02010000
		rx app len=5
		tx fin
		rx eof
		qp destroy
		conn later
		$(crossed)
		tx app len=5
		tx decline diag=0x02010000
		rx app len=5
		tx fin
		rx eof
		qp destroy
		conn part
		$(crossed)
		tx decline diag=0x02010000 cut=20
		rx app len=5
		tx fin
		rx eof
		qp destroy
		# no Decline of the peer is due
		conn subnet
		connect $PEER 5000
		set peer_id=0002525400000002
		tx proposal net=10.99.0.0/24
		rx decline s=0 diag=0x03070000
		tx raw e2d4c3d904001c10%{peer_id}0000000000000000e2d4c3d9
		rx app len=5
		tx fin
		rx eof
	E
	await up2
	fast qp_timeout=10 t_llc_first=2000
	before=$(counter clc-rx-decline)
	app "client program" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	eq "the Decline was seen" $(($(counter clc-rx-decline) - before)) 1
	app "no Decline is due" socket "connect:$PEER:5001" recvhex:28=e2d4c3d904001c1000035254000000010000000000000000e2d4c3d9 send:5 recv:1=eof close
}
