# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# While a post is pending (the puppet has no receive for its CDC, so that no completion
# comes) small sends wait behind it, and are posted as one after the completion; with
# TCP_NODELAY, also of the listener, each is posted alone, and what waits when that is set
# is posted then. No timer is needed, because the completion always comes. Nothing waits when
# little is pending. The send buffer is not reused, nor freed when a larger one replaces it,
# before the completion.
#
# covers: CDC-22 CDC-23
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet cdc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

small() { for _ in {1..10}; do echo send:100; done; }

server() {
	local n calls=() nodelay=(nodelay:0 nodelay:1 nodelay:0) later=(nodelay:0 nodelay:1 nodelay:1)
	fast t_testlink=0
	for n in 0 1 2; do
		# shellcheck disable=SC2207
		calls+=(slot:1 accept:0 "${nodelay[n]}" "await:go$n" send:100 "mark:first$n" "await:more$n" send:10000 $(small) \
			"${later[n]}" $(small) "mark:sent$n" recv:1=eof close)
	done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	app_end "small sends"
	# shellcheck disable=SC2046
	app_bg limit:20 socket nodelay:1 listen:5002 mark:up1 slot:1 accept:0 await:go3 send:100 mark:first3 await:more3 send:10000 \
		$(small) $(small) mark:sent3 recv:1=eof close
	app_end "TCP_NODELAY of the listener: small sends"

	app_bg limit:40 socket sndbuf:32768 listen:5001 mark:up2 slot:1 accept:0 await:go nonblock fill=32768 mark:full \
		await:late pollfor:OUT:100=none write:1=EAGAIN mark:waited block pollfor:OUT:5000=OUT send:32768 send:5000 recv:1=eof close
	app_end "a send buffer that is under way"

	app_bg limit:40 socket sndbuf:65536 listen:5003 mark:up3 slot:1 accept:0 await:two send:100 send:100 send:20000 mark:grown \
		await:early send:100 mark:again recv:1=eof close
	app_end "a send buffer that was replaced"
}

client() {
	local n cdcs=(3 22 13 22) port=5000
	await up
	# the long one, and the small ones together or one by one; or ten together when TCP_NODELAY
	# is set, and then ten one by one
	for n in 0 1 2 3; do
		[ $n != 3 ] || { await up1; port=5002; }
		pup "connection $n: ${cdcs[n]} messages" <<-E
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
			check cdcs ${cdcs[n]}
			close
		E
	done
	await up2
	pup "not used again before the completion" <<-E
		set peer_id=0004525400000002 rq=2 repost=0 bsize=2
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
	await up3
	pup "not freed before the completion" <<-E
		set peer_id=0005525400000002 rq=2 repost=0 bsize=2
		connect $PEER 5003
		first_contact
		fill
		mark two
		await grown
		# the second one is not written yet, as the message of the first one is not taken
		sleep 200ms
		check untouched off=100
		# it is acknowledged all the same
		consume 200
		mark early
		await again
		qp receives 200
		rx data len=20300 consume
		close
	E
}
