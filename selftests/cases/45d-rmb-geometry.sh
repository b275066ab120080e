# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RMBs are whole numbers of elements of one size, counted from 1: all elements of an RMB
# full at the same time, the first and the last one among them; memory behind the last one
# belongs to none. With eye catchers the distance of two elements is as without.
#
# covers: RMB-01 RMB-02
# module: ours none
# timeout: 45
# needs: synopt
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

N=4	# elements of 64 KiB in the first RMB

# one line for each: bytes, elements, bytes of an element
rmbs() { "$SMCCTL" -j rmb | jq -r '.. | objects | select(has("elements")) | "\(.size) \(.elements) \(."element-size")"'; }

server() {
	local i calls=() n=0 size elements one
	# none ahead of need: of two RMBs the newer one is used
	fast rmem=65536 max_rmbs_per_lgr=1
	for ((i = 1; i <= N + 1; i++)); do calls+=("slot:$i" accept:0 send:1); done
	calls+=(await:full)
	for ((i = N + 1; i; i--)); do calls+=("slot:$i" recv:65536 send:1 recv:1=eof close); done
	calls+=(slot:50 socket rcvbuf:200000 listen:5001 mark:up2 slot:1 accept:50 recv:5 mark:sizes await:seen send:5 recv:1=eof close \
		slot:2 accept:0 mark:accepted recv:1=ECONNRESET close)
	app_bg limit:35 slot:0 socket listen:5000 mark:up "${calls[@]}"
	await full_rmb
	fast max_rmbs_per_lgr=255
	mark more
	await sizes 30
	while read -r size elements one; do
		n=$((n + 1))
		check "RMB of $size bytes: $elements times $one" \
			test $((elements * one)) = "$size" -a "$elements" -ge 1 -a "$elements" -le 255 -a $((one % 16384)) = 0
	done < <(rmbs)
	eq "RMBs of two sizes, in one group" "$n $(rmbs | awk '{ print $3 }' | sort -u | wc -l)" "3 2"
	mark seen
	app_end "server program"
	fast rmem=16384
	app_bg limit:20 socket listen:5003 mark:up3 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:1 send:20000 recv:20000 recv:1=eof close slot:2 send:20000 recv:20000 recv:1=eof close
	app_end "server program, eye catchers"
}

# eye_data: more than an element holds, both ways; neither the eye catcher nor the next element is touched
eye_data() {
	printf '%s\n' "rx data len=16380" "check untouched off=0 len=4" "check untouched off=16384 len=16384" \
		"consume 16380" "rx data len=3620 consume" "check untouched off=0 len=4" "tx data len=20000" "close"
}

client() {
	local i
	await up
	pup "every element of an RMB" < <(
		for ((i = 1; i <= N; i++)); do
			printf '%s\n' "conn $i" "connect $PEER 5000"
			if [ $i = 1 ]; then
				printf '%s\n' "first_contact" "let va=%peer_va rkey=%peer_rkey"
			else
				printf '%s\n' "tx proposal" "rx accept first=0 va=%va rkey=%rkey index=$i bsize=2" "tx confirm"
			fi
			echo "rx data len=1"
		done
		printf '%s\n' "mark full_rmb" "await more"
		printf '%s\n' "conn $((N + 1))" "connect $PEER 5000" "tx proposal" "rx accept first=0 rkey!=%rkey index=1" "tx confirm" "rx data len=1"
		for ((i = 1; i <= N + 1; i++)); do printf '%s\n' "conn $i" "tx data len=65536"; done
		echo "mark full"
		for ((i = N + 1; i; i--)); do printf '%s\n' "conn $i" "rx data len=1" "close"; done
		cat <<-E
			await up2 20s
			conn b
			connect $PEER 5001
			tx proposal
			rx accept first=0 rkey!=%rkey bsize=4
			tx confirm
			tx data len=5
			rx data len=5 20s
			close
			# behind the last element
			conn last
			connect $PEER 5000
			reuse
			# a group that ends before its Confirm is read makes no connection
			await accepted
			write off=$((N * 65536)) len=16 rkey=%rkey va=%va byte=66 expect=err
			rx rst
			qp destroy
		E
	)
	await up3
	pup "the distance of elements includes the eye catcher" <<-E
		set peer_id=0002525400000002 no_eye=0 index=3
		conn eye1
		connect $PEER 5003
		first_contact
		accepted
		fill len=32768
		tx data len=5
		taken
		let va=%peer_va rkey=%peer_rkey
		conn eye2
		set index=7
		connect $PEER 5003
		tx proposal
		rx accept first=0 va=%va rkey=%rkey index=2 bsize=0
		tx confirm
		accepted
		fill len=32768
		tx data len=5
		conn eye1
		$(eye_data)
		conn eye2
		$(eye_data)
	E
}
