# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bad-message matrix (Part E.3 of the catalogue) on a second link. Messages that fail
# a link fail the one on which they come, which is deleted over the other; its connection
# goes on there without the loss of a byte, and a connection of the other link is not
# affected. Messages that are refused or ignored leave both links as they are. An element is
# the same one over either link: a connection that gets it over one takes it from the other's.
#
# covers: CLC-40 CLC-42 LLC-06 LLC-07 LLC-08 LLC-49 LLC-62 LLC-67 LLC-71 LLC-72
# module: ours ours
# nics: 2/2
# timeout: 120
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

z42=$(printf '00%.0s' {1..42})

# Messages that fail the link on which they come, with the reason in DELETE LINK
SPOIL=()
spoil() { SPOIL+=("$*"); }
for i in 002c 052c 0a2c 3f2c 402c 7f2c c02c c12c ff2c 072b 072d fe2b fe00; do spoil 0x40000 "tx send $i$z42 expect=gone"; done
for i in 0 1 43 45 64; do spoil 0x40000 "tx send len=$i expect=gone"; done
# the adapter itself refuses what exceeds the receive
for i in 65 4096; do spoil 0x10000 "tx send len=$i expect=any"; done
for i in "confirm_link reply=1" "add_link reply=1" "add_link reply=1 rejected=0 qpn=99 link=9 mac=%mac gid=%gid mtu=5" \
	"add_link_cont reply=1 link=%link_num n=0" "add_link_cont reply=0 link=%link_num n=0" \
	"add_link_cont reply=0 link=77 n=1 ref1=1 rkey1=2 va1=3" "add_link_cont reply=0 link=%link_num n=255" \
	"add_link_cont reply=0 link=0 n=0" "delete_link reply=1" "confirm_rkey @4=09" "confirm_rkey n=1 link1=0 rkey1=1 va1=1" \
	"confirm_rkey reply=1" "confirm_rkey_cont n=1 link1=1 rkey1=1 va1=1" "confirm_rkey_cont @4=00" "confirm_rkey_cont @4=ff" \
	"confirm_rkey_cont reply=1 n=1 link1=1 rkey1=1 va1=1" "delete_rkey n=1 @4=00" "delete_rkey @4=09" "delete_rkey reply=1" \
	"test_link reply=1" "confirm_link reply=0"; do
	spoil 0x40000 "tx llc $i expect=gone"
done
spoil 0x10000 "write off=0 len=5 rkey=0x12345678 expect=err"
spoil 0x10000 "write off=0 len=5 va=0xffffffffffff0000 expect=err"
spoil 0x10000 "read off=0 expect=err"
# only a server sends these; in a client's notice nothing can be wrong: 38
AT_SERVER=()
AT_CLIENT=("0x40000 tx llc add_link reply=0 link=0 expect=gone" "0x40000 tx llc add_link reply=0 qpn=0 expect=gone"
	"0x40000 tx llc add_link reply=0 link=9 gid=00000000000000000000000000000000 expect=gone"
	"0x40000 tx llc add_link reply=0 link=1 expect=gone" "0x40000 tx llc add_link reply=0 link=%link_num expect=gone")

# As the puppet is a server or a client ($puppet):
# added LINK: another link, over the second card
added() {
	printf '%s\n' "link $1 of 1" "nic $(rnic 1)" "conn 1" "link 1"
	[ "$puppet" = server ] || echo "tx llc add_link gid=%{$1:gid} mac=%{$1:mac} qpn=0 link=0 psn=0"
	echo "add_link $1"
	# a server's module that answers this has the reply to CONFIRM LINK
	[ "$puppet" = server ] || printf '%s\n' "on $1 tx llc test_link" "on $1 rx llc test_link reply=1"
}
# opened NAME LINK [THEIRS]: a connection that is on LINK, and in the module's direction
# on THEIRS, or there, too
opened() {
	echo "conn $1"
	if [ "$puppet" = server ]; then
		printf '%s\n' "accept" "link $2" "reuse" "rx data len=5" "tx data len=5"
	else
		# its group is found by the first RNIC
		printf '%s\n' "link 1" "connect $PEER 5000" "reuse until=confirm" "link $2" "tx confirm" "accepted" \
			"tx data len=5" "rx data len=5"
	fi
	echo "check rx_link ${3-$2}"
}
# held NAME LINK [LINE...]: a connection over LINK, wherever the module writes; LINEs behind CLC
held() {
	echo "conn $1"
	if [ "$puppet" = server ]; then
		printf '%s\n' "accept" "link $2" "reuse" "${@:3}" "rx data len=5" "tx data len=5"
	else
		printf '%s\n' "link 1" "connect $PEER 5000" "reuse until=confirm" "link $2" "tx confirm" "${@:3}" "accepted" \
			"tx data len=5" "rx data len=5"
	fi
}
# fails LINK REASON [TIME]: LINK has failed at the module; both directions of the current
# connection go on over link 1; LINK is deleted
fails() {
	printf '%s\n' "on 1 rx llc delete_link reply=0 all=0 orderly=0 about=$1 reason=$2 ${3-}" "wait cdc has=F" "check rx_link 1"
	if [ "$puppet" = server ]; then
		printf '%s\n' "move 1" "delete_link $1"
	else
		printf '%s\n' "on 1 tx llc delete_link reply=1 about=$1" "on $1 qp destroy" "move 1"
	fi
}
# both N: data in both directions
both() {
	if [ "$puppet" = server ]; then printf '%s\n' "rx data len=$1" "tx data len=$1"; else printf '%s\n' "tx data len=$1" "rx data len=$1"; fi
}

# Messages that fail nothing, on the current link
harmless() {
	cat <<-E
		tx send 802c$z42
		tx send 9f2c$z42
		tx send bf00$z42
		tx llc delete_link link=77
		rx llc delete_link reply=1 link=77 reason=0x100000
		tx llc delete_link link=0
		rx llc delete_link reply=1 link=0 reason=0x100000
		tx llc delete_rkey n=2 rkey1=0x99 rkey2=0x9a
		rx llc delete_rkey reply=1 negative=1 n=2 mask=0xc0
		tx llc confirm_rkey rkey=0x55667788 va=0x7f0056780000 n=1 link1=9 rkey1=1 va1=2
		rx llc confirm_rkey reply=1 negative=1 retry=0 rkey=0x55667788
		tx cdc token=^1 seq=%seq
		tx cdc seq=%seq
		write off=0 len=5 imm
		tx llc test_link data=00112233445566778899aabbccddeeff
		rx llc test_link reply=1 data=00112233445566778899aabbccddeeff
		# long enough for TEST LINK, whatever the state of the link before
		sleep 1500ms
		rx none 200ms link
	E
}

# The puppet's script, after first contact
script() {
	local row n=0
	for row; do
		n=$((n + 1))
		echo "print ---- ${row#* }"
		added k$n
		[ $n != 1 ] || both 5
		opened c$n k$n
		echo "${row#* }"
		fails k$n "${row%% *}"
		both 7
		printf '%s\n' "close" "conn 1"
		both 3
		echo "check rx_link 1"
	done

	# the module sends TEST LINK by itself
	echo "print ---- TEST LINK, another answer"
	added t1
	opened ct1 t1
	asked t1
	printf '%s\n' "tx llc test_link reply=1 xor@19=01 expect=gone"
	fails t1 0x40000
	both 7
	echo "close"
	echo "print ---- TEST LINK, no answer"
	added t2
	opened ct2 t2
	asked t2
	fails t2 0x10000 7s
	both 7
	echo "close"

	echo "print ---- CONFIRM RKEY that does not name the link"
	added m1
	opened cm1 m1
	echo "sleep 1500ms"
	# a server refuses once, for a retry, as the client may not have had the link yet
	[ "$puppet" = server ] || printf '%s\n' "on 1 tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000 n=0 link1=0 rkey1=0 va1=0" \
		"on 1 rx llc confirm_rkey reply=1 negative=1 retry=1"
	printf '%s\n' "on 1 tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000 n=0 link1=0 rkey1=0 va1=0" \
		"on 1 rx llc confirm_rkey reply=1 negative=0"
	fails m1 0x40000
	both 7
	echo "close"

	echo "print ---- harmless"
	added h1
	opened ch1 h1
	harmless
	# impossible cursors fail the connection only; what the program has not read by
	# then is lost, so it confirms its reads first
	if [ "$puppet" = server ]; then opened ch2 h1; echo "rx data len=1"; else opened ch2 h1 1; fi
	printf '%s\n' "tx cdc prod=0xffffffff" "wait cdc has=A" "tx cdc flags=A" "rx rst"
	echo "conn ch1"
	both 7
	printf '%s\n' "check rx_link h1" "close"

	echo "print ---- an element again, over the other link"
	echo "set index=3"
	held ce1 h1
	held ce2 1 "conn ce1" "rx rst" "conn ce2"
	both 7
	printf '%s\n' "close" "conn 1"
	both 5
	printf '%s\n' "check rx_link 1" "check offences 0" "close"
}
# asked LINK: the module sends TEST LINK there, and on link 1, which answers
asked() {
	printf '%s\n' "set auto_test=0" "on $1 rx llc test_link reply=0" "on 1 rx llc test_link reply=0" "on 1 tx llc test_link reply=1" \
		"set auto_test=1"
}

server() {
	local i calls=() n=$((${#SPOIL[@]} + ${#AT_SERVER[@]} + 3))
	fast max_links=2 t_link_retry=3600000 t_testlink=1000
	for ((i = 0; i < n; i++)); do
		calls+=(slot:2 accept:0 recv:5 send:5 recv:7 send:7 recv:1=eof close)
		[ $i -ge $((n - 3)) ] || calls+=(slot:1 recv:3 send:3)
	done
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 "${calls[@]}" slot:2 accept:0 recv:5 send:5 \
		slot:3 accept:0 recv:5 send:5 recv:1=ECONNABORTED close slot:2 recv:7 send:7 recv:1=eof close \
		slot:2 accept:0 recv:5 send:5 slot:3 accept:0 recv:5 send:5 slot:2 recv:1=ECONNRESET close slot:3 recv:7 send:7 recv:1=eof close \
		slot:1 recv:5 send:5 recv:1=eof close
	app_end "server program"
	eq "connections that moved" "$(counter conn-moved)" $n
	eq "links that failed" "$(counter link-down)" $n
	eq "link groups" "$(counter lgr-created)" 1

	puppet=server
	pup_bg -t 100 < <(
		printf '%s\n' "set retry=1" "listen 5001" "mark up2" "accept" "first_contact until=add_link"
		script "${SPOIL[@]}" "${AT_CLIENT[@]}"
	)
	pup_end "puppet as server"
}

client() {
	local i calls=() n=$((${#SPOIL[@]} + ${#AT_CLIENT[@]} + 3))
	await up
	puppet=client
	pup "puppet as client" -t 100 < <(
		printf '%s\n' "set retry=1" "connect $PEER 5000" "first_contact until=add_link"
		script "${SPOIL[@]}" "${AT_SERVER[@]}"
	)
	await up2
	fast max_links=2 t_link_retry=3600000 t_testlink=1000
	for ((i = 0; i < n; i++)); do
		calls+=(slot:2 socket "connect:$PEER:5001" send:5 recv:5 send:7 recv:7 recv:1=eof close)
		[ $i -ge $((n - 3)) ] || calls+=(slot:1 send:3 recv:3)
	done
	app "client program" limit:60 slot:1 socket "connect:$PEER:5001" send:5 recv:5 "${calls[@]}" slot:2 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:3 socket "connect:$PEER:5001" send:5 recv:5 send:1 recv:1=ECONNABORTED close slot:2 send:7 recv:7 recv:1=eof close \
		slot:2 socket "connect:$PEER:5001" send:5 recv:5 slot:3 socket "connect:$PEER:5001" send:5 recv:5 \
		slot:2 recv:1=ECONNRESET close slot:3 send:7 recv:7 recv:1=eof close slot:1 send:5 recv:5 recv:1=eof close
	eq "connections that moved" "$(counter conn-moved)" $n
	eq "links that failed" "$(counter link-down)" $n
	eq "link groups" "$(counter lgr-created)" 1
}
