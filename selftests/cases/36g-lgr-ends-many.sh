# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Three hundred link groups of as many peers end at once, and none of the peers answers:
# no worker of the kernel waits for them. Meanwhile another peer connects, exchanges data
# and has its TEST LINK answered, and yet another one makes its first contact, all in
# their usual time.
#
# covers: SEC-13 LG-35
# module: ours ours
# timeout: 120
# needs: synopt
# tags: puppet lgr stress nodebug
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=300

groups() { "$SMCCTL" -j linkgroup | jq '[.. | objects | select(has("lgr-id"))] | length'; }

# workers NAME: how many workers of the kernel sleep in the middle of a work
workers() {
	local f pid rest n=0
	for f in /proc/[0-9]*/stat; do
		read -r pid rest < "$f" 2>/dev/null || continue
		case $rest in
		\(kworker*\)\ D*) n=$((n + 1)) ;;
		esac
	done
	echo $n
}

server() {
	local i calls=() most=0 n
	fast rmem=16384 t_llc=10000 t_testlink=500
	# first the peers that go on, then those whose groups end
	app_bg limit:110 slot:0 socket listen:5001:512 slot:4 socket listen:5002 mark:up \
		slot:1 accept:4 recv:5 send:5 recv:1=eof close await:dying \
		slot:2 accept:4 recv:5 send:5 recv:1=eof close \
		slot:2 accept:4 recv:100000 send:100000 recv:1=eof close \
		slot:2 accept:4 recv:5 send:5 recv:1=eof close
	for ((i = 0; i < N; i++)); do calls+=(accept:0 recv:5 send:5 recv:1=eof close); done
	bg "$SOCKCMD" limit:110 slot:0 socket listen:5000:512 mark:up2 slot:1 "${calls[@]}"
	await ready 100
	check "the groups are there" test "$(groups)" -gt $N || :
	mark go
	await dying 30
	while [ ! -e "$CASEDIR/mark.innocent" ]; do
		n=$(workers)
		[ "$n" -le $most ] || most=$n
		nap 0.05
	done
	check "workers that slept in a work: at most $most" test $most -lt 20 || :
	check "the groups still waited for their peers then" test "$(groups)" -gt $N || :
	app_end "server program"
	ended() { [ "$(groups)" -le 2 ]; }
	check "they end when T_LLC is over" eventually 20 ended || :
	mark over
}

client() {
	local i script=$CASEDIR/attack
	fast t_testlink=500
	await up
	await up2
	app "an innocent peer" socket "connect:$PEER:5002" send:5 recv:5 close
	_synopt
	for ((i = 1; i <= N; i++)); do
		host $i
		done5
	done > "$script"
	{
		echo "mark ready"
		echo "await go"
		# the server answers with its own DELETE LINK, and waits for the reply
		for ((i = 1; i <= N; i++)); do
			echo "conn $i"
			echo "tx llc delete_link nowait"
		done
		echo "mark dying"
		# the last of them is answered as soon as the first
		echo "wait llc delete_link reply=0 2s"
		echo "await over 60s"
	} >> "$script"
	bg "$PUPPET" -t 110 "$script"
	i=$BG
	await dying 100
	app "the innocent peer" start socket "connect:$PEER:5002" send:5 recv:5 elapsed:0:2500 close \
		start socket "connect:$PEER:5002" send:100000 recv:100000 elapsed:0:2500 close
	pup "a first contact" <<-E
		set peer_id=0999525400000002
		connect $PEER 5002
		start
		first_contact
		tx data len=5
		rx data len=5
		elapsed 0ms 2500ms
		start
		tx llc test_link
		wait llc test_link reply=1
		elapsed 0ms 2500ms
		close
	E
	mark innocent
	await over 60
	eq "no TEST LINK went unanswered" "$(smc_sum timer-testlink)" 0 || :
	check "those whose groups ended" wait "$i" || :
}
