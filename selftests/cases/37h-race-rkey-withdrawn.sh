# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CONFIRM RKEY and DELETE RKEY of one RMB arrive in the midst of a handshake whose Accept
# names it. If they are handled before the client looks the RMB up, the connection is
# declined, as there is no such RMB any more. If afterwards, the RMB is in use: DELETE RKEY
# is refused, the connection goes on, and no other one gets that RMB before the next CONFIRM
# RKEY. DELETE RKEY succeeds once no connection uses the RMB.
#
# covers: LLC-67 RMB-25
# module: none ours
# timeout: 60
# needs: uml latch
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered twice
# tags: puppet race llc rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

told() { printf '%s\n' "tx llc confirm_rkey" "rx llc confirm_rkey reply=1 negative=0"; }
# names NAME INDEX: an Accept for this element of the new RMB
names() { printf '%s\n' "set index=$2" "conn $1" "accept" "rx proposal" "tx accept first=0"; }
# in the midst of it
crosses() {
	printf '%s\n' "await $1.held" "tx llc confirm_rkey" "tx llc delete_rkey n=1 rkey1=%rkey" \
		"mark $1.crossed"
}
declined() { printf '%s\n' "rx decline s=0 diag=0x06100000" "tx app len=5" "rx app len=5" "tx fin" "rx eof"; }

server() {
	# shellcheck disable=SC2119
	pup_bg < <(
		printf '%s\n' "listen 5000" "mark up" "set index=3" "conn 1" "accept" "first_contact" "rx data len=5" rmb
		told
		echo "mark told"

		echo "# handled before the lookup"
		names a 4
		crosses a
		printf '%s\n' "rx llc confirm_rkey reply=1 negative=0" \
			"rx llc delete_rkey reply=1 negative=0 mask=0" "mark a.gone"
		declined

		echo "# handled after it"
		told
		names b 5
		crosses b
		printf '%s\n' "rx confirm" "rx data len=5" "mark b.uses" \
			"rx llc confirm_rkey reply=1 negative=0" \
			"rx llc delete_rkey reply=1 negative=1 mask=0x80 rkey1=%rkey"
		names c 6
		declined
		printf '%s\n' "conn b" "tx data len=5" "rx data len=5"

		echo "# confirmed again, while a connection uses it"
		told
		names d 7
		printf '%s\n' "rx confirm" "rx data len=5" "tx data len=5" close "conn b" close \
			"tx llc delete_rkey n=1 rkey1=%rkey" "rx llc delete_rkey reply=1 negative=0 mask=0" \
			"tx llc delete_rkey n=1 rkey1=%rkey" "rx llc delete_rkey reply=1 negative=1 mask=0x80"
		names e 8
		declined
		printf '%s\n' "conn 1" "tx data len=5" "rx data len=5" close "check offences 0"
	)
	pup_end "puppet as server"
}

# holds_both NAME: the handshake, and then the group's LLC
holds_both() {
	await "$1"
	holds conn-open
	latch llc-work
	mark "$1.held"
	await "$1.crossed"
	holds llc-work
}

client() {
	local next=(socket nodelay:1 "connect:$PEER:5000") fell
	fast t_lgr_idle=60000 t_testlink=0 t_llc=16000
	await up
	fell=(recv:5 send:5 recv:1=eof close)
	app_bg limit:50 slot:1 "${next[@]}" send:5 await:told2 \
		mark:a slot:2 "${next[@]}" "${fell[@]}" await:b2 \
		mark:b slot:2 "${next[@]}" send:5 slot:3 "${next[@]}" "${fell[@]}" slot:2 recv:5 send:5 \
		slot:3 "${next[@]}" send:5 recv:5 recv:1=eof close slot:2 recv:1=eof close \
		"${next[@]}" "${fell[@]}" slot:1 recv:5 send:5 recv:1=eof close
	await told
	latch conn-open
	mark told2
	holds_both a
	unlatch llc-work
	await a.gone
	unlatch conn-open
	poll 10 fallen || fail "the connection is not declined"
	latch conn-open
	mark b2
	holds_both b
	unlatch conn-open
	await b.uses
	unlatch llc-work
	app_end "client program"
	eq "declined" "$(counter rkey-unknown)" 3
	eq "no link was lost" "$(counter link-down)" 0
}
fallen() { [ "$(counter client-fallbacks)" = 1 ]; }
