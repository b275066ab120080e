# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A further RMB of a server is announced to the client ahead of need, and no Accept names
# it before the client has confirmed it. Other answers of the client: no, not now, none.
# (The puppet itself reports a CLC message that names an unconfirmed RMB.)
#
# covers: CLC-32 LLC-17 LLC-55 LLC-60 LLC-61 LLC-63 LLC-83 LLC-84 LLC-89 RMB-05 RMB-10
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

rkeys() { "$SMCCTL" -j rmb | jq -r '[.. | objects | select(has("rkey")) | .rkey] | sort | join(",")'; }
mrs() { rdma resource show mr | grep -c 'comm \[smcr' || :; }
one_rmb() { [ "$(mrs)" = 1 ]; }

server() {
	local i four=() end4=() reset4=() echo5=(slot:5 accept:0 recv:5 send:5 recv:1=eof close)
	# four elements in the first RMB of this size, eight in the next
	fast rmem=65536 t_llc=2000 t_lgr_idle=60000 t_rmb_free=700
	for i in 1 2 3 4; do four+=("slot:$i" accept:0 recv:5); done
	for i in 1 2 3 4; do end4+=("slot:$i" send:5 recv:1=eof close); done
	for i in 1 2 3 4; do reset4+=("slot:$i" recv:1=ECONNRESET close); done
	app_bg limit:40 socket listen:5000 mark:up \
		"${four[@]}" "${echo5[@]}" "${echo5[@]}" "${end4[@]}" \
		"${four[@]}" "${echo5[@]}" "${end4[@]:0:4}" "${echo5[@]}" "${end4[@]:4}" \
		"${four[@]}" "${echo5[@]}" "${end4[@]}" \
		"${four[@]}" "${echo5[@]}" "${reset4[@]}"
	await two
	eq "the client knows the RMBs that there are" "$MARK" "$(rkeys)"
	eq "each is one memory region" "$(mrs)" 2
	eq "one connection had to wait" "$(counter rmb-waits)" 1
	mark two.seen
	await one 20
	check "one is left" eventually 5 one_rmb
	eq "the client knows that one" "$MARK" "$(rkeys)"
	mark one.seen
	app_end "server program"
	eq "no answer: T_LLC" "$(counter timer-llc)" 1
}

# up to where the first RMB is full, in a group of its own
four() {
	local i
	printf '%s\n' "set peer_id=000${1}525400000002 auto_rkey=0" "link $1"
	for i in 1 2 3 4; do
		printf '%s\n' "conn $1.$i" "connect $PEER 5000"
		if [ "$i" = 1 ]; then printf '%s\n' "first_contact" "let rkey1=%peer_rkey"; else echo "reuse"; fi
		printf '%s\n' "accepted" "tx data len=5"
	done
}
next() { printf '%s\n' "conn $1" "connect $PEER 5000" "tx proposal"; }
uses() { printf '%s\n' "tx confirm" "tx data len=5" "rx data len=5" "close"; }
ends() { local i; for i in "$@"; do printf '%s\n' "conn $i" "rx data len=5" "close"; done; }

client() {
	local i
	await up
	pup "yes" < <(
		four 1
		cat <<-E
			# before a connection needs it
			rx llc confirm_rkey reply=0 n=0 @0=062c0000 @17=000000000000000000000000000000000000000000000000000000 2s
			let new=%asked_rkey va=%asked_va
		E
		next 1.5
		cat <<-E
			rx none 300ms
			# everything else goes on meanwhile
			tx llc test_link data=000102030405060708090a0b0c0d0e0f
			rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=0 rkey=0x11223344 2s
			tx llc delete_rkey n=1 rkey1=0x11223344
			rx llc delete_rkey reply=1 negative=0 mask=0 2s
			# but a notice of another RNIC is deferred
			tx llc add_link reply=0 qpn=0 link=0 psn=0
			rx none 100ms
			tx llc confirm_rkey reply=1 rkey=%new va=%va
			rx llc add_link reply=0 rejected=0
			tx llc add_link reply=1
			rx accept first=0 rkey=%new va=%va index=1
		E
		uses
		next 1.6
		cat <<-E
			# the next connection finds it ready
			rx accept first=0 rkey=%new va=%va index=2
			mark two %peer_rmbs
			await two.seen
		E
		uses
		ends 1.1 1.2 1.3 1.4
		cat <<-E
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey1 5s
			tx llc delete_rkey reply=1 rkey1=%rkey1
			mark one %peer_rmbs
			await one.seen
			qp destroy
		E
	)
	pup "no" < <(
		four 2
		cat <<-E
			rx llc confirm_rkey reply=0
			tx llc confirm_rkey reply=1 negative=1
			# not again before a connection needs one
			rx none 400ms
		E
		next 2.5
		cat <<-E
			rx llc confirm_rkey reply=0
			tx llc confirm_rkey reply=1 negative=1
			rx decline s=0 diag=0x060a0000 2s
		E
		tcp5
		next 2.6
		cat <<-E
			# another element becomes free meanwhile
			rx llc confirm_rkey reply=0
		E
		ends 2.1
		cat <<-E
			conn 2.6
			sleep 200ms
			tx llc confirm_rkey reply=1 negative=1
			rx accept first=0 rkey=%rkey1 2s
		E
		uses
		ends 2.2 2.3 2.4
		echo "qp destroy"
	)
	pup "not now" < <(
		four 3
		cat <<-E
			rx llc confirm_rkey reply=0
			tx llc confirm_rkey reply=1 negative=1 retry=1
			# at once, and for a connection that has come meanwhile
			rx llc confirm_rkey reply=0 n=0 rkey=%asked_rkey va=%asked_va 2s
		E
		next 3.5
		for i in 1 2 3; do
			printf '%s\n' "tx llc confirm_rkey reply=1 negative=1 retry=1"
			[ $i = 3 ] || echo "rx llc confirm_rkey reply=0 rkey=%asked_rkey va=%asked_va 2s"
		done
		# a waiting connection causes an RMB of its own, with the same number of attempts
		for i in 1 2 3 4; do
			echo "rx llc confirm_rkey reply=0 2s"
			echo "tx llc confirm_rkey reply=1 negative=1 retry=1"
		done
		printf '%s\n' "rx decline s=0 diag=0x060b0000 2s" "rx none 300ms link"
		tcp5
		ends 3.1 3.2 3.3 3.4
		echo "qp destroy"
	)
	pup "nothing" < <(
		four 4
		echo "rx llc confirm_rkey reply=0"
		next 4.5
		cat <<-E
			start
			# the link has failed with its connections; the waiting one may
			# begin a new group
			rx accept first=1 4s
			elapsed 1s 3s
			tx decline
		E
		tcp5
		for i in 1 2 3 4; do printf '%s\n' "conn 4.$i" "rx rst"; done
		printf '%s\n' "rx down" "qp destroy"
	)
}
