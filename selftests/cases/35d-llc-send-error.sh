# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An LLC message that the peer's adapter does not acknowledge (its queue pair is gone, or
# never was ready) counts as unanswered at once: the timers, which are long here, are not
# waited for (C.7.1).
#
# covers: LLC-12
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

FAR="t_llc_first=30000 t_llc=30000 t_clc=30000 t_testlink=0 qp_timeout=13"

server() {
	local i calls=()
	# shellcheck disable=SC2086
	fast $FAR
	app_bg limit:40 socket listen:5000 mark:up \
		slot:1 accept:0 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close
	app_end "TCP carries what LLC could not"

	fast t_testlink=300
	app_bg limit:40 socket listen:5002 mark:up2 slot:1 accept:0 recv:5 send:5 recv:1=ECONNRESET close
	app_end "TEST LINK"

	fast t_testlink=0 rmem=65536 t_rmb_free=500
	for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:40 socket listen:5003 mark:up3 "${calls[@]}" slot:5 recv:1=ECONNRESET close
	app_end "DELETE RKEY"

	fast t_lgr_idle=500
	app_bg limit:40 socket listen:5004 mark:up4 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "DELETE LINK"
	await over4
	all_freed() { [ "$(counter lgr-created)" = "$(counter lgr-freed)" ]; }
	check "no group waits for an answer" eventually 3 all_freed

	pup_bg <<-'E'
		listen 5001
		mark up5
		# CONFIRM LINK is received; its reply finds no receive, then no queue pair
		set rq=0
		accept
		first_contact until=confirm_link
		tx llc confirm_link
		start
		sleep 100ms
		qp destroy
		rx decline s=0 diag=0x02010000 5s
		elapsed 100ms 3s
		rx app len=5
		tx app len=5
		tx fin
		rx eof
		# the same with the reply to ADD LINK: too late for TCP
		set rq=1 repost=0
		conn 2
		link 2
		accept
		first_contact until=add_link
		tx llc add_link
		start
		sleep 100ms
		qp destroy
		rx rst 5s
		elapsed 100ms 3s
	E
	pup_end "puppet as server"
}

client() {
	await up
	pup "CONFIRM LINK" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		# a queue pair that is not ready to receive
		qp create
		start
		tx confirm
		rx decline s=0 diag=0x02010000 5s
		elapsed 10ms 3s
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		qp destroy
	E
	pup "ADD LINK" <<-E
		set peer_id=0002525400000002 rq=1 repost=0
		connect $PEER 5000
		first_contact until=add_link
		sleep 100ms
		start
		qp destroy
		rx decline s=0 diag=0x02020000 5s
		elapsed 10ms 3s
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	await up2
	pup "TEST LINK" <<-E
		set peer_id=0003525400000002
		connect $PEER 5002
		first_contact
		tx data len=5
		rx data len=5
		qp destroy
		start
		rx rst 5s
		elapsed 10ms 3s
	E
	await up3
	pup "DELETE RKEY" < <(
		echo "set peer_id=0004525400000002"
		for i in {1..5}; do
			echo "conn $i"
			echo "connect $PEER 5003"
			if [ "$i" = 1 ]; then echo "first_contact"; else echo "reuse"; fi
			printf '%s\n' "tx data len=5" "rx data len=5"
		done
		for i in {1..4}; do printf '%s\n' "conn $i" "close"; done
		cat <<-E
			conn 5
			qp destroy
			start
			rx rst 6s
			elapsed 10ms 4s
		E
	)
	await up4
	pup "DELETE LINK" <<-E
		set peer_id=0005525400000002
		connect $PEER 5004
		first_contact
		tx data len=5
		rx data len=5
		close
		qp destroy
		sleep 700ms
		mark over4
	E
	await up5
	# shellcheck disable=SC2086
	fast $FAR
	app "reply to CONFIRM LINK" start socket "connect:$PEER:5001" elapsed:0:5000 send:5 recv:5 recv:1=eof close
	app "reply to ADD LINK" socket "connect:$PEER:5001=any" "recv:1=ECONNRESET|ENOTCONN" close
}
