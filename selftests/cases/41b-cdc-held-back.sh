# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# While a post is pending (the puppet has no receive for its CDC, so that no completion
# comes) small sends wait behind it, and are posted as one after the completion; with
# TCP_NODELAY, also of the listener, each is posted alone. No timer is needed, because the
# completion always comes. Nothing waits when little is pending. The send buffer is not
# reused before the completion.
#
# covers: CDC-22 CDC-23
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

small() { for _ in {1..20}; do echo send:100; done; }

server() {
	local n calls=()
	fast t_testlink=0
	for n in 0 1; do
		# shellcheck disable=SC2207
		calls+=(slot:1 accept:0 "nodelay:$n" "await:go$n" send:100 "mark:first$n" "await:more$n" send:10000 $(small) "mark:sent$n" \
			recv:1=eof close)
	done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	app_end "small sends"
	# shellcheck disable=SC2046
	app_bg limit:20 socket nodelay:1 listen:5002 mark:up1 slot:1 accept:0 await:go2 send:100 mark:first2 await:more2 send:10000 $(small) \
		mark:sent2 recv:1=eof close
	app_end "TCP_NODELAY of the listener: small sends"

	app_bg limit:40 socket sndbuf:32768 listen:5001 mark:up2 slot:1 accept:0 await:go nonblock fill=32768 mark:full \
		await:late pollfor:OUT:100=none write:1=EAGAIN mark:waited block pollfor:OUT:5000=OUT send:32768 send:5000 recv:1=eof close
	app_end "a send buffer that is under way"
}

client() {
	local n cdcs port=5000
	await up
	for n in 0 1 2; do
		[ $n != 2 ] || { await up1; port=5002; }
		# the long one, and the small ones together or one by one
		cdcs=$((n ? 22 : 3))
		pup "TCP_NODELAY=$n: $cdcs messages" <<-E
			# receives for CONFIRM LINK, ADD LINK and the first CDC
			set peer_id=000${n}525400000002 rq=3 repost=0
			connect $PEER $port
			first_contact
			fill
			mark go$n
			await first$n
			# nothing was under way: at once
			rx data len=100 2s
			mark more$n
			await sent$n
			sleep 200ms
			# the long one is written, its CDC is not taken, the others are not written
			check untouched off=10100 len=6000
			check cdcs 1
			qp receives 100
			rx data len=12000
			rx none 200ms
			check cdcs $cdcs
			close
		E
	done
	await up2
	pup "not used again before the completion" <<-E
		set peer_id=0003525400000002 rq=2 repost=0 bsize=2
		connect $PEER 5001
		first_contact
		fill
		mark go
		await full
		sleep 300ms
		mark late
		await waited
		# written, but not announced; and nothing behind it
		check untouched off=32768 len=32768
		check cdcs 0
		qp receives 200
		# what was under way is what the application sent
		rx data len=70536 consume
		close
	E
}
