# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every timer expires once: its effect comes, and its counter moves and no other. All of
# them can be set, in their bounds, and the tools show both. Of those in part B.5 of the
# catalogue T_CLIENT_CONFIRM is t_llc_first, T_CLIENT_LINK_RETRY t_link_retry (38f has it
# at a client), T_KEEPALIVE the socket's (35b, 35c), T_TCP_KA_MIN keepalive_floor, which
# is no timer. T_COALESCE (sends are not held back) and T_CURSOR_STALE (R is answered at
# once) would have nothing to wait for, and a link is not deleted because it is unused
# (T_LINK_IDLE, off by default there).
#
# covers: CLC-13 LG-27 LLC-11 MISC-19
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet diag
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
TIMERS="clc llc-first llc lgr-idle rmb-free close abort testlink link-retry"

# expiries: "NAME NUMBER" of those that moved since the last time
expiries() {
	local t n out=()
	local -n was=_was
	for t in $TIMERS; do
		n=$(counter "timer-$t")
		[ "$n" = "${was[$t]:-0}" ] || out+=("$t $((n - ${was[$t]:-0}))")
		was[$t]=$n
	done
	_moved=${out[*]}
}
declare -A _was
# only DESC WHAT
only() { expiries; eq "$1" "$_moved" "$2"; }
ran_out() { [ "$(counter "timer-$1")" != "${_was[$1]:-0}" ]; }

server() {
	local t k i calls
	for t in t_clc t_llc_first t_llc t_lgr_idle t_close t_abort t_testlink t_rmb_free t_link_retry; do
		k=/proc/sys/net/smcr/$t
		check "$t: out of its bounds is refused" bash -c "! echo -1 > $k && ! echo 86400001 > $k && ! echo x > $k" 2> /dev/null
		echo 54321 > $k
		eq "$t is told by smcctl" "$("$SMCCTL" -d show | grep -cw 54321)" 1
		echo 60000 > $k
	done
	only "nothing has run out" ""

	fast t_clc=400
	app_bg limit:40 socket listen:5000 mark:clc await:clc-done close
	await clc-out; only "T_CLC" "clc 1"; fast t_clc=60000; mark clc-done
	app_end "nobody came"

	fast t_llc_first=600
	app_bg limit:40 socket listen:5000 mark:first await:first-done close
	await first-out; only "T_LLC_FIRST" "llc-first 1"; fast t_llc_first=60000; mark first-done
	app_end "nobody came again"

	fast t_close=500
	app_bg limit:60 socket rcvbuf:65536 listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 close \
		accept:0 recv:5 await:abort linger:0 close slot:1 recv:5 recv:1=eof close \
		"slot:3" accept:0 recv:5 await:idle recv:1=eof close \
		"slot:4" accept:0 recv:5 recv:1=ECONNRESET close
	await close-out; only "T_CLOSE" "close 1"
	fast t_close=60000 t_abort=500
	mark abort
	# the peer has its RST at once
	await abort-out; eventually 4 ran_out abort || :; only "T_ABORT" "abort 1"
	fast t_abort=60000 t_lgr_idle=500
	mark idle-on
	await idle-out; only "T_LGR_IDLE" "lgr-idle 1"
	fast t_lgr_idle=60000
	mark idle-off
	fast t_testlink=300 t_llc=400
	mark test-on
	await test-out; only "T_TESTLINK" "testlink 1"
	fast t_testlink=60000 t_llc=60000
	app_end "server program"

	# more than one RMB; one is withdrawn when idle, and the peer does not answer
	calls=()
	fast t_rmb_free=600 t_llc=500
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:20 socket rcvbuf:65536 listen:5004 mark:up3 "${calls[@]}" slot:5 recv:1=ECONNRESET close slot:6 recv:1=ECONNRESET close
	await rmb-out; only "T_RMB_FREE, T_LLC" "llc 1 rmb-free 1"
	app_end "more than one RMB"

	fast t_llc=60000 t_rmb_free=60000 t_link_retry=1000
	app_bg limit:20 socket listen:5005 mark:up4 accept:0 recv:5 recv:1=eof close
	await retry-out; only "T_LINK_RETRY" "link-retry 1"; mark retry-done
	app_end "no second link"
}

client() {
	local i
	await clc
	pup "T_CLC: no Proposal" <<-E
		connect $PEER 5000
		rx rst 4s
		mark clc-out
	E
	await first
	pup "T_LLC_FIRST: no CONFIRM LINK reply" <<-E
		connect $PEER 5000
		first_contact until=rts
		rx rst 4s
		mark first-out
		qp destroy
	E
	await up
	pup "T_CLOSE and others" <<-E
		connect $PEER 5000
		first_contact
		accepted
		tx data len=5
		# never closes
		conn close
		connect $PEER 5000
		reuse
		tx data len=5
		wait cdc flags=C
		rx rst 4s
		mark close-out
		# never answers the abort
		conn abort
		connect $PEER 5000
		reuse
		tx data len=5
		rx cdc has=A 4s
		rx rst 4s
		mark abort-out
		await idle-on
		conn 1
		tx data len=5
		close
		# the group was armed with the old time: another connection ends
		conn idle
		connect $PEER 5000
		reuse
		tx data len=5
		mark idle
		close
		rx llc delete_link reply=0 all=1 4s
		rx down
		mark idle-out
		await test-on
		qp destroy
		conn test
		connect $PEER 5000
		first_contact
		tx data len=5
		set auto_test=0
		rx llc test_link reply=0 4s
		rx rst 4s
		rx down
		mark test-out
		qp destroy
	E
	await up3
	pup "T_RMB_FREE, T_LLC: a withdrawal without an answer" < <(
		cat <<-E
			conn c1
			connect $PEER 5004
			first_contact
			tx data len=5
			rx data len=5
			let rkey1=%peer_rkey
		E
		for i in 2 3 4 5 6; do printf '%s\n' "conn c$i" "connect $PEER 5004" "reuse" "tx data len=5" "rx data len=5"; done
		for i in 1 2 3 4; do printf '%s\n' "conn c$i" "close"; done
		cat <<-E
			conn c5
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s
			rx rst 4s
			conn c6
			rx rst 4s
			rx down
			mark rmb-out
			qp destroy
		E
	)
	await up4
	pup "T_LINK_RETRY: the server offers a link again" <<-E
		set max_links=2
		connect $PEER 5005
		first_contact
		accepted
		start
		rx llc add_link reply=0 rejected=0 3s
		elapsed 800ms 2500ms
		mark retry-out
		await retry-done
		tx llc add_link reply=1
		tx data len=5
		close
	E
}
