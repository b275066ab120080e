# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Each fault of a card (prog/nicfaults.sh) affects that card, and no other: of two queue
# pairs of puppets the one over the server's card 0 fails and the other one works; the
# port changes its state or does not; and after the fault a new queue pair works. In the
# simulation faults of messages as well.
#
# module: none
# nics: 2/2
# timeout: 120
# tags: lab
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# name, fault, mend, what the client's card 0 gets, port of the server's card 0, whether TCP passes
KINDS="
cable	cable_cut 0	cable_mend 0	err	DOWN	no
netdev	netdev_down 0	netdev_up 0	err	DOWN	no
delete	rnic_delete 0	rnic_add 0	err	gone	yes
pulled	rnic_pulled 0	rnic_add 0	err	gone	yes
port	port_down 0	port_up 0	err	DOWN	any
address	gid_change 0	gid_back 0	err	ACTIVE	no
silence	silence 0	hear 0	err	ACTIVE	no
rdma	rdma_silence 0	rdma_hear 0	err	ACTIVE	yes
path	path_cut 0 0	path_mend 0 0	err	ACTIVE	yes
lossy	lossy 0 50000	lossy 0 0	ok	ACTIVE	any
"

# kinds CMD...: with the fields of each
kinds() {
	local line
	while IFS=$'\t' read -ru 3 -a line; do
		[ ${#line[@]} = 0 ] || "$@" "${line[@]}"
	done 3<<< "$KINDS"
}

# serve NAME CARD PORT: a puppet of the server, in the background
serve() {
	cat > "$CASEDIR/serve.$1.$3" <<-E
		listen $3
		accept
		first_contact
		rx data len=100
		await over.$1 60s
	E
	bg "$PUPPET" -d "$(rnic "$2")" "$CASEDIR/serve.$1.$3"
	poll 10 listening "$3"
}
port_state() {
	local f
	f=/sys/class/infiniband/$(rnic 0)/ports/1/state
	[ -e "$f" ] || { echo gone; return; }
	sed 's/.*: //' "$f"
}
port_is() { [ "$(port_state)" = "$1" ]; }
arrives() { ping -qc1 -W1 "$PEER" > /dev/null; }

server_kind() {
	local name=$1 pids=() other=1
	# a path between two cards, and another one from the same card
	[ "$name" != path ] || other=0
	serve "$name" 0 5000
	pids+=("$BG")
	serve "$name" $other 5001
	pids+=("$BG")
	mark "up.$name"
	await "busy.$name"
	# soft RoCE waits for programs that have the device
	case $name$FABRIC in deleteroce|pulledroce) kill -KILL "${pids[0]}" ;; esac
	$2
	check "$name: the port is $5 ($(port_state))" eventually 2 port_is "$5"
	mark "cut.$name"
	await "over.$name" 40
	[ "$name" != lossy ] || check "some were lost ($(lost 0))" test "$(lost 0)" -gt 0
	$3
	poll 10 rnic_usable 0 || fail "$name: the card does not come back"
	kill -KILL "${pids[@]}" 2> /dev/null || :
	wait "${pids[@]}" 2> /dev/null || :
	serve "$name.after" 0 5000
	mark "after.$name"
	await "end.$name" 40
	kill -KILL "$BG" 2> /dev/null || :
}

# connected PORT: how the client's puppets begin
connected() { printf '%s\n' "set qp_timeout=12 retry=6" "connect $PEER $1" "first_contact" "tx data len=100"; }
client_kind() {
	local name=$1 pids=() tests
	await "up.$name"
	tests="tx llc test_link"
	if [ "$4" = err ]; then tests+=" expect=err"; else tests=$(yes "$tests"$'\n'"rx llc test_link reply=1" | head -n 200 || :); fi
	"$PUPPET" -d "$(rnic 0)" > "$CASEDIR/first.$name" <<-E &
		$(connected 5000)
		mark busy0.$name
		await cut.$name 60s
		$tests
	E
	pids+=($!)
	"$PUPPET" -d "$(rnic 1)" > "$CASEDIR/second.$name" <<-E &
		$(connected 5001)
		mark busy1.$name
		await cut.$name 60s
		tx llc test_link
		rx llc test_link reply=1
	E
	pids+=($!)
	poll 20 test -s "$CASEDIR/mark.busy0.$name" || fail "$name: no first contact over card 0"
	poll 20 test -s "$CASEDIR/mark.busy1.$name" || fail "$name: no first contact over card 1"
	mark "busy.$name"
	await "cut.$name"
	# soft RoCE does not always recover from many losses
	case $4$FABRIC in
	okroce) wait "${pids[0]}" || : ;;
	*) check "$name: over card 0 ($4)" wait "${pids[0]}" ;;
	esac
	check "$name: over card 1" wait "${pids[1]}"
	case $6 in
	no) check "$name: TCP's way is cut, too" eval '! arrives' ;;
	yes) check "$name: TCP's way is open" arrives ;;
	esac
	mark "over.$name"
	await "after.$name" 40
	poll 20 arrives || fail "$name: the peer does not come back"
	pup "$name: afterwards" <<-E
		$(connected 5000)
		tx llc test_link
		rx llc test_link reply=1
	E
	mark "end.$name"
}

# Messages of the server's card
server_messages() {
	msg_fault 0 test_link_reply 1 drop
	serve messages 0 5000
	mark up.messages
	await lost
	eq "replies that vanished" "$(msg_faults 0 test_link_reply)" 1
	msg_fault 0 test_link_reply 2 delay 700
	mark late
	await late-seen
	msg_fault 0 test_link_reply 1 corrupt 20
	mark corrupt
	await end.messages
	kill -KILL "$BG" 2> /dev/null || :
}
client_messages() {
	await up.messages
	pup "messages" <<-E
		connect $PEER 5000
		first_contact
		tx data len=100
		tx llc test_link
		rx none 500ms link
		mark lost
		await late
		tx llc test_link
		rx llc test_link reply=1
		start
		tx llc test_link
		rx llc test_link reply=1
		elapsed 700ms 900ms
		mark late-seen
		await corrupt
		tx llc test_link data=000102030405060708090a0b0c0d0e0f
		rx llc test_link reply=1 @16=0c0d0e0fff
	E
	mark end.messages
}

server() {
	_synopt
	kinds server_kind
	[ "$FABRIC" != sim ] || server_messages
}
client() {
	_synopt
	kinds client_kind
	[ "$FABRIC" != sim ] || client_messages
}
