# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# LLC and failover: connections move although DELETE LINK is lost, because a move does not
# wait for it; CONFIRM RKEY, ADD LINK and DELETE LINK under way on a link that fails begin
# again over another one; a link that carries data but no answer to LLC has failed.
#
# covers: FO-02 FO-14 FO-21 LLC-56
# nics: 3/3
# timeout: 180
# tags: lgr links failover llc
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

# open NAME LINKS [N]: eleven (N) idle connections, which send before the mark cut.NAME,
# and after it. The next one of a group with two links is on the second
open() {
	local n calls=() again=()
	smc_reset
	before=$(moved)
	if [ "$ROLE" = server ]; then
		for ((n = 1; n <= ${3:-11}; n++)); do
			calls+=("slot:$n" accept:0 recv:5 send:5)
			again+=("slot:$n" recv:9 send:9 recv:1=eof close)
		done
		app_bg limit:40 socket listen:5000 "mark:up.$1" "${calls[@]}" "await:cut.$1" "${again[@]}"
	else
		await "up.$1"
		for ((n = 1; n <= ${3:-11}; n++)); do
			calls+=("slot:$n" socket "connect:$PEER:5000" send:5 recv:5)
			again+=("slot:$n" send:9)
		done
		for ((n = 1; n <= ${3:-11}; n++)); do again+=("slot:$n" recv:9 close); done
		app_bg limit:40 "${calls[@]}" "mark:open.$1" "await:cut.$1" start "${again[@]}" elapsed:0:3000
	fi
	check "$1: $2 links" eventually 10 have "$2"
	barrier "there.$1"
	await "open.$1"
}
# ended NAME [MOVED [CONNS]]: they have ended well, so many or more have moved
ended() {
	app_end "$1: program"
	smc_was "$1" "${3:-11}" "${3:-11}"
	check "$1: connections moved" test $(($(moved) - before)) -ge "${2:-3}"
	check "$1: no connection is left" eventually 30 smc_idle
	check "$1: no group is left" eventually 30 no_group
	barrier "over.$1" 60
}

# other_size NAME, other_done NAME: one more connection, which needs an RMB of another
# size of the client
other_size() {
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5001 send=200k recv=200k
		poll 10 listening 5001
		mark "other.$1"
	else
		await "other.$1"
		bg "$PROG/xfer" client "$PEER" 5001 send=200k recv=200k rcvbuf=65536
	fi
	OTHER=$BG
}
other_done() { check "$1: connection with another RMB" wait "$OTHER"; }

now() { [ "$ROLE" = client ] || mark "cut.$name"; }
cut() { [ "$ROLE" = client ] || path_cut "$1" "$1"; }
mended() { [ "$ROLE" = client ] || path_mend "$1" "$1"; }
fault() { [ "$ROLE" != "$1" ] || msg_fault "${@:2}"; }
# hit ROLE N TYPE
hit() { [ "$ROLE" != "$1" ] || check "$name: $3 was lost" test "$(msg_faults "$2" "$3")" -ge 1; }

rounds() {
	local before name

	# a move does not wait for DELETE LINK
	name="no DELETE LINK"
	at_once max_links=2 t_llc=15000
	open "$name" 2
	msg_fault 0 delete_link 1+ drop
	cut 1
	now
	ended "$name"
	[ "$ROLE" = client ] || check "$name: it was lost" test "$(msg_faults 0 delete_link)" -ge 1
	msg_fault 0 delete_link 0
	mended 1

	# over link 1, which then fails; T_LLC is not waited for
	name="CONFIRM RKEY"
	at_once max_links=2 t_llc=9000 t_testlink=500
	open "$name" 2
	fault client 0 confirm_rkey 1+ drop
	other_size "$name"
	if [ "$ROLE" = client ]; then
		check "$name: on its way" eventually 10 lost 0 confirm_rkey
		mark "rkey.$name"
	fi
	[ "$ROLE" = client ] || await "rkey.$name"
	cut 0
	now
	other_done "$name"
	ended "$name" 3 12
	fault client 0 confirm_rkey 0
	mended 0

	# the reply is lost, the link is not: T_LLC (LLC-63)
	name="CONFIRM RKEY reply"
	at_once max_links=2 t_llc=1000 t_testlink=30000
	open "$name" 2
	fault server 0 confirm_rkey_reply 1+ drop
	other_size "$name"
	other_done "$name"
	now
	hit server 0 confirm_rkey_reply
	ended "$name" 3 12
	fault server 0 confirm_rkey_reply 0

	name="TEST LINK reply"
	at_once max_links=2 t_llc=1000 t_testlink=1000
	open "$name" 2
	fault server 1 test_link_reply 1+ drop
	check "$name: one link is left" eventually 20 have 1
	now
	hit server 1 test_link_reply
	ended "$name"
	fault server 1 test_link_reply 0

	# another link is added over the first one, which fails; then over the second one
	name="ADD LINK"
	at_once max_links=3 t_link_retry=1000 t_llc=9000 t_testlink=500
	fault client 0 add_link_reply 2+ drop
	open "$name" 3 1	# one of the links stays as it is
	hit client 0 add_link_reply
	cut 0
	check "$name: it is lost" eventually 10 carried
	fault client 0 add_link_reply 0
	mended 0
	# in real time that takes longer than an idle group is kept
	check "$name: two more come over the one that is left" eventually 30 have 3
	now
	ended "$name" 1 1

	# DELETE LINK of link 3 is lost with link 1, and comes over link 2
	name="DELETE LINK"
	at_once max_links=3 t_llc=9000 t_testlink=500
	open "$name" 3
	fault server 0 delete_link 1+ drop
	cut 2
	[ "$ROLE" = client ] || check "$name: on its way" eventually 10 lost 0 delete_link
	cut 0
	now
	check "$name: one link is left" eventually 20 have 1
	ended "$name"
	fault server 0 delete_link 0
	mended 0
	mended 2
}
lost() { [ "$(msg_faults "$1" "$2")" -ge 1 ]; }
# the connection is on a link that works
carried() { [ "$(moved)" -gt "$before" ]; }

server() { rounds; }
client() { rounds; }
