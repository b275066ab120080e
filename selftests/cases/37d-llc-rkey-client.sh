# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A further RMB of a client: no Confirm names it before the server has confirmed it. The
# server changes the group at that moment, refuses, or does not answer; the link fails;
# the application gives up. RMBs are added ahead of need as often as they fill up.
#
# covers: CLC-41 CONN-38 LLC-55 LLC-60 LLC-61 LLC-63 LLC-77 LLC-83 LLC-85 RMB-10 CLC-55
# module: none ours
# timeout: 60
# needs: synopt
# tags: puppet llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# four connections of the client, in a group of its own, and its CONFIRM RKEY
group() {
	local i
	printf '%s\n' "set auto_rkey=0 peer_id=000${1}525400000001" "link $1"
	for i in 1 2 3 4; do
		echo "conn $1.$i"
		[ "$1$i" != 11 ] || printf '%s\n' "listen 5000" "mark up"
		echo "accept"
		if [ "$i" = 1 ]; then echo "first_contact"; else echo "reuse"; fi
		echo "rx data len=5"
	done
	echo "rx llc confirm_rkey reply=0 n=0 @0=062c0000"
}
fifth() { printf '%s\n' "conn $1" "accept" "rx proposal" "tx accept first=0"; }
tcp() { printf '%s\n' "rx app len=5" "tx app len=5" "tx fin" "rx eof"; }
ends() { local i; for i in 1 2 3 4; do printf '%s\n' "conn $1.$i" "close"; done; }
resets() { local i; for i in 1 2 3 4; do printf '%s\n' "conn $1.$i" "rx rst"; done; }

server() {
	pup_bg < <(
		group 1
		fifth 1.5
		cat <<-'E'
			rx none 300ms
			tx llc test_link data=000102030405060708090a0b0c0d0e0f
			rx llc test_link reply=1 data=000102030405060708090a0b0c0d0e0f 2s
			# LLC-85: the server's ADD LINK crosses it; then it is repeated
			tx llc add_link
			rx llc add_link reply=1 rejected=1
			tx llc confirm_rkey reply=1 negative=1 retry=1
			rx llc confirm_rkey reply=0 n=0 rkey=%asked_rkey va=%asked_va 2s
			tx llc confirm_rkey reply=1
			rx confirm rkey=%asked_rkey va=%asked_va index=1
			rx data len=5
			tx data len=5
			close
		E
		ends 1
		echo "qp destroy"

		group 2
		echo "tx llc confirm_rkey reply=1 negative=1"
		echo "rx none 300ms link"
		fifth 2.5
		cat <<-'E'
			rx llc confirm_rkey reply=0
			tx llc confirm_rkey reply=1 negative=1
			rx decline s=0 diag=0x060a0000
		E
		tcp
		# the application gives up meanwhile
		fifth 2.6
		cat <<-'E'
			rx llc confirm_rkey reply=0
			mark waits
			rx end
			tx llc confirm_rkey reply=1
		E
		ends 2
		echo "qp destroy"

		group 3
		fifth 3.5
		cat <<-'E'
			rx none 200ms tcp
			# LLC-87, as far as there is a group to repeat it in: this was the only link
			tx llc delete_link expect=gone
			rx llc delete_link reply=1
			rx decline s=0 diag=0x030a0000 2s
		E
		tcp
		resets 3
		echo "qp destroy"

		group 4
		fifth 4.5
		cat <<-'E'
			start
			rx decline s=0 diag=0x030a0000 4s
			elapsed 1s 3s
		E
		tcp
		resets 4
		printf '%s\n' "rx down" "qp destroy"

		# a third RMB, while the elements of the second are in use
		group 5
		echo "tx llc confirm_rkey reply=1"
		for i in {5..12}; do
			printf '%s\n' "conn 5.$i" "accept" "reuse" "rx data len=5"
		done
		echo "rx llc confirm_rkey reply=0 n=0 2s"
		echo "tx llc confirm_rkey reply=1"
		for i in {1..12}; do printf '%s\n' "conn 5.$i" "close"; done
		echo "qp destroy"
	)
	pup_end "puppet as server"
}

client() {
	local i four=() end4=() reset4=() twelve=() connect=(socket "connect:$PEER:5000") echo5
	fast rmem=65536 t_llc=2000
	for i in 1 2 3 4; do four+=("slot:$i" "${connect[@]}" send:5); done
	for i in 1 2 3 4; do end4+=("slot:$i" recv:1=eof close); done
	for i in 1 2 3 4; do reset4+=("slot:$i" recv:1=ECONNRESET close); done
	for i in {1..12}; do twelve+=("slot:$i" "${connect[@]}" send:5); done
	for i in {1..12}; do twelve+=("slot:$i" recv:1=eof close); done
	echo5=(slot:5 "${connect[@]}" send:5 recv:5 recv:1=eof close)
	await up
	app "client program" limit:40 "${four[@]}" "${echo5[@]}" "${end4[@]}" \
		"${four[@]}" "${echo5[@]}" \
		slot:5 socket nonblock "connect:$PEER:5000=EINPROGRESS" await:waits start shut:rdwr elapsed:0:1500 close "${end4[@]}" \
		"${four[@]}" "${echo5[@]}" "${reset4[@]}" "${four[@]}" "${echo5[@]}" "${reset4[@]}" \
		"${twelve[@]}"
	eq "no answer: T_LLC" "$(counter timer-llc)" 1
	eq "given up" "$(counter neg-aborted)" 1
}
