# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# While the handshake runs neither program has the connection: connect() and accept()
# wait, nothing can be sent, polled for or received, at each step until the attempt at a
# second link is settled. Then data are sent at once, call by call.
#
# covers: CLC-01 CONN-02 CDC-21
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

steps=(proposal confirm confirm_link_reply add_link_reply)

server() {
	local i calls=()
	for i in "${steps[@]}"; do calls+=("await:c$i" accept:0=EAGAIN slot:0 poll:0=none slot:1 "mark:s$i"); done
	app_bg limit:20 socket nonblock listen:5000 mark:up slot:1 "${calls[@]}" \
		slot:0 pollfor:IN:5000=IN slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "accept() only when it is settled"

	pup_bg <<-'E'
		listen 5001
		mark up2
		accept
		rx proposal
		mark a1
		await b1
		qp create
		tx accept first=1
		rx confirm
		mark a2
		await b2
		qp rtr
		qp rts
		tx llc confirm_link
		rx llc confirm_link reply=1
		mark a3
		await b3
		tx llc add_link
		rx llc add_link reply=1 rejected=1
		# one call, one message, without delay
		rx cdc prod=1 2s
		mark n1
		rx cdc prod=2 2s
		mark n2
		rx cdc prod=3 2s
		mark n3
		rx cdc prod=4 2s
		mark n4
		rx cdc prod=5 2s
		rx data len=5
		tx data len=5
		close
	E
	pup_end "puppet as server"
}

client() {
	local i calls=()
	await up
	pup "puppet as client" < <(
		echo "connect $PEER 5000"
		echo "mark cproposal"
		echo "await sproposal"
		printf '%s\n' "tx proposal" "rx accept first=1" "qp create" "qp rtr" "mark cconfirm" "await sconfirm"
		printf '%s\n' "tx confirm" "rx llc confirm_link" "qp rts" "mark cconfirm_link_reply" "await sconfirm_link_reply"
		printf '%s\n' "tx llc confirm_link reply=1" "rx llc add_link" "mark cadd_link_reply" "await sadd_link_reply"
		printf '%s\n' "tx llc add_link reply=1" "tx data len=5" "rx data len=5" "close"
	)
	await up2
	for i in 1 2 3; do
		calls+=("await:a$i" poll:0=none send:1=EAGAIN recv:1=EAGAIN "connect:$PEER:5001=EALREADY" "mark:b$i")
	done
	app "connect() only when it is settled" limit:20 socket nonblock "connect:$PEER:5001=EINPROGRESS" "${calls[@]}" \
		pollfor:OUT:5000=OUT soerror "connect:$PEER:5001=ok|EISCONN" block \
		send:1 await:n1 send:1 await:n2 send:1 await:n3 send:1 await:n4 send:1 recv:5 recv:1=eof close
}
