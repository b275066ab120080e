# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Decline of the peer that crosses the module's own is no data of the application: not
# below SO_RCVLOWAT, where TCP makes no wake-up, nor does it end TCP_DEFER_ACCEPT. Where
# no Decline can cross, or with another host's peer ID, bytes that look like a Decline are
# data.
#
# covers: CLC-11
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast qp_timeout=10 t_llc_first=1500
	app_bg limit:40 socket listen:5000 set:RCVLOWAT:100 mark:up slot:1 accept:0 nonblock mark:accepted \
		await:declined inq=0 recvsome:28=EAGAIN close
	app_end "SO_RCVLOWAT"
	app_bg limit:40 socket listen:5001 set:TCP_DEFER_ACCEPT:20 mark:up2 slot:1 start accept:0 elapsed:1500:9000 \
		nonblock recvsome:5=5
	app_end "TCP_DEFER_ACCEPT"
	app_bg limit:40 socket listen:5002 mark:up3 slot:1 accept:0 recv:28=WRONG-DATA send:5 recv:1=eof close \
		accept:0 recv:28=WRONG-DATA send:5 recv:1=eof close
	app_end "no Decline can cross"
}

# crossed PORT: up to the server's Decline
crossed() {
	printf '%s\n' "connect $PEER $1" "first_contact until=qp" "qp create" "qp rtr psn=-8" "tx confirm" "rx decline s=0 diag=0x02010000"
}

client() {
	await up
	pup "below SO_RCVLOWAT" <<-E
		conn once
		$(crossed 5000)
		await accepted
		tx decline diag=0x02010000
		sleep 200ms
		mark declined
		sleep 500ms
		qp destroy
	E
	await up2
	pup "TCP_DEFER_ACCEPT" <<-E
		conn twice
		$(crossed 5001)
		sleep 300ms
		tx decline diag=0x02010000
		sleep 3s
		tx app len=5
		sleep 500ms
		qp destroy
	E
	await up3
	pup "data that look like a Decline" <<-E
		connect $PEER 5002
		tx proposal net=10.78.0.0/24
		rx decline s=0 diag=0x03070000
		tx decline
		rx app len=5
		tx fin
		rx eof
		conn other
		$(crossed 5002)
		tx decline diag=0x02010000 @8=0102030405060708
		rx app len=5
		tx fin
		rx eof
		qp destroy
	E
}
