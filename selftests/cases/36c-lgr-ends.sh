# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The reason of a connection's end when several events come at once: a link group that the
# peer deletes ends its connections with RST, and the group is the reason. A peer that
# resets TCP after the module's C has T_ABORT for its answer and not T_CLOSE. Two hosts
# have a group of each role, and both show the same reasons.
#
# covers: LG-02 LG-04 LG-14 LG-15
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet lgr conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

idle() { [ "$(counter conn-created)" = "$(counter conn-freed)" ]; }

server() {
	local id rsts closes aborts
	# --- between two modules
	bg "$SOCKCMD" limit:60 socket listen:5000 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 mark:up2 slot:1 recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET close
	local prog=$BG
	poll 10 listening 5000
	mark up
	await up3
	app_bg limit:60 socket "connect:$PEER:5001" send:5 mark:both await:deleted recv:1=ECONNRESET close
	await both
	"$SMCCTL" -j linkgroup > "$CASEDIR/lgr1.json"
	"$SMCCTL" -j link > "$CASEDIR/link1.json"
	eq "queue pairs are RC, all of them" "$(rdma resource show qp | grep smcr | grep -vc 'type RC' || :)" 0
	mark listed
	await listed2
	for id in $(jq -r '.[]."lgr-id"' "$CASEDIR/lgr1.json"); do
		"$SMCCTL" linkgroup delete "$id"
	done
	mark deleted
	app_end "client program here"
	check "server program here" wait "$prog"
	check "no connection is left" poll 10 idle

	# --- the puppet ends a group, and TCP at the same time
	fast t_close=60000 t_abort=500
	app_bg limit:40 socket listen:5002 mark:up4 slot:1 accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 \
		slot:1 recv:1=ECONNRESET close slot:2 recv:1=ECONNRESET close
	app_end "server program"
	# soft RoCE delivers DELETE LINK by two workers, TCP's RST needs none: a
	# connection may see either first, the group sees DELETE LINK only
	check "the group is known to have been deleted" test "$(smc_sum lgr-deleted)" -ge 1
	rsts=$(smc_sum tcp-reset)
	closes=$(counter timer-close) aborts=$(counter timer-abort)
	app_bg limit:40 socket listen:5003 mark:up5 slot:1 accept:0 recv:5 close
	app_end "server program that closes"
	await reset
	check "an answer that never comes is waited for T_ABORT" poll 5 idle
	eq "RST was the reason" "$(($(smc_sum tcp-reset) - rsts))" 1
	eq "it was T_ABORT" "$(($(counter timer-abort) - aborts)) $(($(counter timer-close) - closes))" "1 0"
}

client() {
	await up
	app_bg limit:60 socket "connect:$PEER:5000" send:5 slot:1 socket "connect:$PEER:5000" send:5 mark:up2b await:deleted slot:0 recv:1=ECONNRESET close slot:1 recv:1=ECONNRESET close
	bg "$SOCKCMD" limit:60 socket listen:5001 slot:1 accept:0 recv:5 recv:1=ECONNRESET close
	local prog=$BG
	poll 10 listening 5001
	await up2b
	mark up3
	await listed
	"$SMCCTL" -j linkgroup > "$CASEDIR/lgr2.json"
	"$SMCCTL" -j link > "$CASEDIR/link2.json"
	eq "a group of each role there" "$(jq -c '[.[].role] | sort' "$CASEDIR/lgr1.json")" '["client","server"]'
	eq "and here" "$(jq -c '[.[].role] | sort' "$CASEDIR/lgr2.json")" '["client","server"]'
	eq "their connections" "$(jq -c '[.[] | [.role, .conns]] | sort' "$CASEDIR/lgr2.json")" '[["client",2],["server",1]]'
	eq "user IDs agree" "$(jq -c '[.[] | [."user-id", ."peer-user-id"]] | sort' "$CASEDIR/link1.json")" \
		"$(jq -c '[.[] | [."peer-user-id", ."user-id"]] | sort' "$CASEDIR/link2.json")"
	mark listed2
	app_end "client program there"
	check "server program there" wait "$prog"
	check "no connection is left" poll 10 idle
	eq "the end of two groups, and of three connections with them" "$(smc_sum lgr-deleted tcp-reset)" 5

	await up4
	pup "the group ends, and TCP in the same breath" <<-E
		conn 1
		connect $PEER 5002
		first_contact
		tx data len=5
		rx data len=5
		conn 2
		connect $PEER 5002
		reuse
		tx data len=5
		rx data len=5
		tx llc delete_link all=1 reason=0x20000 expect=gone
		tx rst
		conn 1
		tx rst
		qp destroy
	E
	await up5
	pup "RST after the module's C" <<-E
		set peer_id=0002525400000002
		connect $PEER 5003
		first_contact
		tx data len=5
		wait cdc flags=C
		tx rst
		mark reset
		sleep 1s
	E
}
