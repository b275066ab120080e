# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Random damage to every message of the protocol: the module may end the
# connection, the link or the negotiation as it likes, but not itself, and a
# well-behaved peer next door works all the time. SEED=n repeats a run.
#
# module: ours none
# timeout: 120
# kernels: umdbg um 6.1 6.12
# Unproven: every run so far timed out; the puppet fault it found is mended, the time-out is not explained.
# tags: puppet fuzz slow wip
# wip: timed out in every run; not explained
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	fast t_clc=300 t_llc_first=300 t_llc=300 t_abort=200 t_close=300
	# Accepts whatever comes, reads a little, writes a little, closes.
	# shellcheck disable=SC2046
	bg "$SOCKCMD" -t 100 socket listen:5000 slot:1 limit:2 $(
		for _ in {1..400}; do echo accept:0=any recvsome:100=any write:10=any recvsome:1000=any close=any; done)
	# The neighbour's connection.
	app_bg limit:100 socket listen:5001 mark:up slot:1 accept:0 recv:1000 send:1000 await:over recv:1000 send:1000 recv:1=eof close
	app_end "the neighbour's program"
}

# rnd N: 0..N-1 of the seeded generator; the result is in $R.
rnd() { R=$((RANDOM % $1)); }

# One to three changed bytes in a message of $1 bytes.
damage() {
	local i n k out=
	rnd 3; k=$R
	for ((i = 0; i <= k; i++)); do
		rnd "$1"; n=$R
		rnd 255
		out+="xor@$n=$(printf %02x $((R + 1))) "
	done
	rnd 10
	[ "$R" != 0 ] || { rnd "$1"; out+="cut=$R "; }
	echo "$out"
}

attack() {
	local what i
	RANDOM=$1
	printf 'set strict=0 peer_id=%04x525400000002\n' "$1"
	echo "connect $PEER 5000"
	rnd 4
	case $R in
	0)	# CLC
		rnd 3
		case $R in
		0) echo "tx proposal $(damage 52) expect=any" ;;
		1) echo "first_contact until=confirm"; echo "tx confirm $(damage 68) expect=any" ;;
		2) echo "first_contact until=rts"; echo "tx decline $(damage 28) expect=any" ;;
		esac ;;
	1)	# LLC of first contact
		rnd 2
		if [ "$R" = 0 ]; then
			echo "first_contact until=confirm_link_reply"
			echo "tx llc confirm_link reply=1 $(damage 44) expect=any"
		else
			echo "first_contact until=add_link_reply"
			echo "tx llc add_link reply=1 $(damage 44) expect=any"
		fi ;;
	2)	# LLC
		echo "first_contact"
		echo "tx data len=100"
		for i in 1 2 3 4 5 6; do
			rnd 8
			what=(test_link confirm_rkey delete_rkey delete_link add_link add_link_cont confirm_link confirm_rkey_cont)
			echo "tx llc ${what[R]} $(damage 44) expect=any"
		done ;;
	3)	# CDC
		echo "first_contact"
		echo "tx data len=100"
		for i in 1 2 3 4 5 6; do
			rnd 2
			[ "$R" = 0 ] || echo "write off=$((RANDOM % 60000)) len=$((RANDOM % 3000 + 1)) expect=any"
			echo "tx cdc $(damage 44) expect=any"
		done ;;
	esac
	echo "sleep 30ms"
	rnd 3
	case $R in
	0) echo "tx rst" ;;
	1) echo "tx fin" ;;
	2) echo "qp err" ;;
	esac
}

client() {
	local i rc seed=${SEED:-$((RANDOM * 32768 + RANDOM))} bad=0
	await up
	echo "seed $seed"
	pup_bg <<-E
		set peer_id=ffff525400000002
		connect $PEER 5001
		first_contact
		tx data len=1000
		rx data len=1000
		await over 100s
		consume 1000 quiet
		tx data len=1000
		rx data len=1000
		close
	E
	_synopt
	for i in {1..60}; do
		rc=0
		attack $((seed + i & 0x7fff)) > "$CASEDIR/attack"
		"$PUPPET" -t 10 "$CASEDIR/attack" > "$CASEDIR/attack.log" 2>&1 || rc=$?
		# 1: the peer did not do what a macro expects, which is its right
		if [ $rc -gt 1 ] && ! grep -q '^SCRIPT.*queue pair\|^SCRIPT.*post' "$CASEDIR/attack.log"; then
			echo "attack $((seed + i & 0x7fff)):"; cat "$CASEDIR/attack" "$CASEDIR/attack.log"
			bad=$((bad + 1))
		fi
	done
	eq "scripts were right" $bad 0
	mark over
	pup_end "the neighbour's connection"
}
