# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module withdraws an unused RMB (DELETE RKEY), after a time. Messages of the peer
# that come before the answer are answered, deferred or obeyed; the answer is negative, or
# missing.
#
# covers: LLC-17 LLC-68 LLC-69 LLC-83 LLC-86 LLC-88 LLC-89 LLC-90
# module: ours none
# timeout: 90
# needs: synopt
# tags: puppet llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i calls=()
	app_bg limit:40 socket listen:5001 mark:up1 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "server program of the first contact"
	ended() { [ "$(counter rmb-freed)" = 1 ]; }
	check "the group of the first contact has ended" eventually 20 ended
	# four elements per RMB of this size
	fast rmem=65536 t_rmb_free=500 t_llc=2000 t_lgr_idle=60000
	for end in eof ECONNRESET ECONNRESET ECONNRESET; do
		for i in {1..5}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
		for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
		calls+=(slot:5)
		[ $end != eof ] || calls+=(recv:5 send:5)
		calls+=("recv:1=$end" close)
	done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	await freed
	freed() { [ "$(counter rmb-freed)" = 2 ]; }
	check "what the peer does not know is freed" eventually 3 freed
	mark freed.seen
	app_end "server program"
	eq "no answer: T_LLC" "$(counter timer-llc)" 1
}

# delete_rkey N: up to the module's request, in a group of its own
delete_rkey() {
	local i
	echo "set peer_id=000${1}525400000002"
	echo "link $1"
	for i in 1 2 3 4 5; do
		echo "conn g$1c$i"
		echo "connect $PEER 5000"
		if [ "$i" = 1 ]; then
			echo "first_contact"
			echo "let rkey1=%peer_rkey"
		else
			echo "reuse"
		fi
		# the next one when this one is accepted: the server's slots are in this order
		echo "tx data len=5"
		echo "rx data len=5"
	done
	for i in 1 2 3 4; do echo "conn g$1c$i"; echo "close"; done
	cat <<-E
		conn g$1c5
		start
		rx llc delete_rkey reply=0 negative=0 n=1 rkey1=%rkey1 @5=00 3s
		elapsed 300ms 2500ms
	E
}

client() {
	await up1
	pup "the client's DELETE RKEY inside of the server's exchange: afterwards" <<-E
		set peer_id=0009525400000002
		link 9
		connect $PEER 5001
		first_contact until=add_link_reply
		tx llc delete_rkey n=1 rkey1=0x99
		rx none 300ms link
		tx llc add_link reply=1
		rx llc delete_rkey reply=1 negative=1 n=1 mask=0x80 rkey1=0x99
		tx data len=5
		rx data len=5
		close
		qp destroy
	E
	await up
	pup "asked meanwhile, and answered no" < <(
		delete_rkey 1
		cat <<-E
			tx llc test_link data=000102030405060708090a0b0c0d0e0f
			rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=0 retry=0 2s
			tx llc delete_rkey n=1 rkey1=0x11223344
			rx llc delete_rkey reply=1 negative=0 mask=0 2s
			tx llc delete_rkey reply=1 negative=1 mask=0x80 rkey1=%rkey1
			mark freed
			await freed.seen
			tx data len=5
			rx data len=5
			close
			qp destroy
		E
	)
	pup "the link is to go meanwhile: afterwards" < <(
		delete_rkey 2
		cat <<-E
			tx llc delete_link
			rx none 300ms link
			tx llc delete_rkey reply=1 rkey1=%rkey1
			rx llc delete_link reply=0 reason=0x10000
			tx llc delete_link reply=1 expect=any
			rx rst
			rx down
			qp destroy
		E
	)
	pup "the group is to go meanwhile: at once" < <(
		delete_rkey 3
		cat <<-E
			tx llc delete_link all=1 orderly=1 reason=0x20000 expect=any
			rx llc delete_link reply=0 all=1 link=0 reason=0x20000 2s
			rx rst
			rx down
			qp destroy
		E
	)
	pup "no answer: the link has failed" < <(
		delete_rkey 4
		cat <<-E
			start
			rx rst 5s
			elapsed 1500ms 5s
			rx down
			qp destroy
		E
	)
}
