# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ADD LINK to CONFIRM LINK beside links that carry data, with the errors that a peer can
# make in it (Parts E.1 to E.3 of the catalogue): the new link is given up, or the link
# that carries the exchange fails, and the connections go on over another one. With three
# cards: links 1 and 2 exist, the third one is added.
#
# covers: LLC-04 LLC-05 LLC-15 LLC-21 LLC-22 LLC-27 LLC-28 LLC-29 LLC-31 LLC-37 LLC-39 LLC-40
# covers: LLC-41 LLC-45 LLC-70 LLC-73 LLC-91 CDC-06 LG-45
# module: ours ours
# nics: 3/3
# timeout: 120
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with all RNICs, and again as a new RMB
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# Lines of the puppet, as a client ($puppet) or as a server. Group N has the links N and
# Nb and the connections N and Nx; the new link is Nc
group() {
	n=$((n + 1))
	cat <<-E
		print ---- $1
		set peer_id=$(printf %04x $n)525400000002 max_links=3
		link $n
		nic $(rnic 0)
		link ${n}b of $n
		nic $(rnic 1)
		link ${n}c of $n
		nic $(rnic 2)
		conn $n
		link $n
	E
	if [ "$puppet" = client ]; then
		cat <<-E
			connect $PEER 5000
			first_contact until=add_link
			add_link ${n}b
			# what answers this has the reply to CONFIRM LINK
			on ${n}b tx llc test_link
			on ${n}b rx llc test_link reply=1
			accepted
			tx data len=5
			rx data len=5
		E
	else
		cat <<-E
			accept
			first_contact until=add_link
			add_link ${n}b
			rx data len=5
			tx data len=5
		E
	fi
}
# second: the other connection, on link Nb in both directions
second() {
	echo "conn ${n}x"
	if [ "$puppet" = client ]; then
		cat <<-E
			link $n
			connect $PEER 5000
			reuse until=confirm
			link ${n}b
			tx confirm
			accepted
			tx data len=5
			rx data len=5
		E
	else
		cat <<-E
			accept
			link ${n}b
			reuse
			rx data len=5
			tx data len=5
		E
	fi
	printf '%s\n' "check rx_link ${n}b" "conn $n"
}
# both N: data in both directions
both() {
	if [ "$puppet" = server ]; then printf '%s\n' "rx data len=$1" "tx data len=$1"; else printf '%s\n' "tx data len=$1" "rx data len=$1"; fi
}
# over LINK [LINK]: connections N and Nx go on, there
over() {
	local c l=$1
	for c in $n ${n}x; do
		printf '%s\n' "conn $c"
		both 7
		printf '%s\n' "check rx_link $l" "close"
		l=${2-$1}
	done
	printf '%s\n' "check offences 0"
	for l in "$n" "${n}b" "${n}c"; do echo "on $l qp destroy"; done
}
# moved LINK: the current connection has left the other one for LINK
moved() { printf '%s\n' "wait cdc has=F" "check rx_link $1" "move $1"; }
# deleted LINK REASON: a server's module deletes it, over the current one
deleted() {
	printf '%s\n' "rx llc delete_link reply=0 all=0 orderly=0 about=$1 reason=$2 ${3-}" "let gone=%{$1:link_num}" "on $1 qp destroy" \
		"tx llc delete_link reply=1 link=%gone"
}
offer() { printf '%s\n' "rx llc add_link reply=0 rejected=0 about=${n}c link=$1"; }
# carrier: the link that carried the offer, N, has failed at the server; the offer is made
# anew over the other link, and refused
carrier() {
	on "${n}b" deleted "$n" "$1"
	on "${n}b" deleted "${n}c" 0x10000
	printf '%s\n' "on ${n}b rx llc add_link reply=0 link=4" "on ${n}b tx llc add_link reply=1 link=4"
	moved "${n}b"
	over "${n}b"
}
# on LINK FUNCTION...: its LLC lines, over LINK
on() { "${@:2}" | sed "s/^[rt]x llc/on $1 &/"; }
no='tx llc add_link reply=1 link=3'

as_client() {
	local i
	puppet=client
	group "no card for a third link"
	second
	offer 3
	echo "$no"
	echo "rx none 500ms link"
	over "$n" "${n}b"

	group "accepted over a card that another link has: one too many, and deleted over another link"
	second
	offer 3
	printf '%s\n' "on ${n}c qp create" "tx llc add_link reply=1 about=${n}c mac=%{$n:mac} gid=%{$n:gid}"
	deleted "${n}c" 0x40000
	echo "rx none 500ms link"
	over "$n" "${n}b"

	for i in 'qpn=^2' 'mac=~' 'gid=~' 'link=2' 'link=77'; do
		group "CONFIRM LINK of the third is answered with $i"
		second
		printf '%s\n' "add_link ${n}c until=confirm_link_reply" "on ${n}c tx llc confirm_link reply=1 $i expect=gone"
		deleted "${n}c" 0x40000
		echo "rx none 200ms link"
		over "$n" "${n}b"
	done
	# (LLC-05)
	group "CONFIRM LINK of the third is answered on the first"
	second
	printf '%s\n' "add_link ${n}c until=confirm_link_reply" \
		"tx llc confirm_link reply=1 mac=%{${n}c:mac} gid=%{${n}c:gid} qpn=%{${n}c:qpn} link=3"
	deleted "${n}c" 0x40000
	over "$n" "${n}b"
	group "something else comes over the third before it is confirmed"
	second
	printf '%s\n' "add_link ${n}c until=confirm_link_reply" "on ${n}c tx llc delete_rkey n=1 rkey1=1 expect=gone"
	deleted "${n}c" 0x40000
	over "$n" "${n}b"

	group "what comes while a third link is added, which comes to nothing, is done afterwards"
	second
	printf '%s\n' "add_link ${n}c until=confirm_link_reply" "tx llc delete_rkey n=1 rkey1=0x99" \
		"tx llc delete_link about=${n}b orderly=1 reason=0x20000" "tx llc test_link data=00112233445566778899aabbccddeeff" \
		"rx llc test_link reply=1 data=00112233445566778899aabbccddeeff" "rx none 200ms link" \
		"on ${n}c tx llc confirm_link reply=1 qpn=^2 expect=gone"
	deleted "${n}c" 0x40000
	printf '%s\n' "rx llc delete_rkey reply=1 negative=1 n=1 mask=0x80 rkey1=0x99" "conn ${n}x"
	moved "$n"
	printf '%s\n' "on $n rx llc delete_link reply=0 all=0 orderly=1 about=${n}b" "on $n tx llc delete_link reply=1 about=${n}b"
	over "$n"

	group "ADD LINK is answered on the second link"
	second
	offer 3
	printf '%s\n' "on ${n}b $no expect=gone" "$no"
	deleted "${n}b" 0x40000
	echo "conn ${n}x"
	moved "$n"
	over "$n"

	for i in 'link=9' 'mtu=6' 'mtu=0'; do
		group "ADD LINK is answered with $i"
		second
		offer 3
		printf '%s\n' "on ${n}c qp create" "tx llc add_link reply=1 about=${n}c $i expect=gone"
		carrier 0x40000
	done
	# LLC-38, LLC-40
	for i in 'link=9' 'n=2' 'n=1 @8=00000000000000000000000000000000' 'n=255 ref1=1'; do
		group "ADD LINK CONTINUATION with $i"
		second
		printf '%s\n' "add_link ${n}c until=cont_reply" "tx llc add_link_cont reply=1 about=${n}c $i expect=gone"
		carrier 0x40000
	done
	# LLC-41: an RMB that was not announced to the module is ignored
	for i in 'ref1=^1' 'n=2 ref2=0x77 rkey2=1 va2=1'; do
		group "ADD LINK CONTINUATION with $i: an RMB that is not known"
		second
		printf '%s\n' "add_link ${n}c until=cont_reply" "tx llc add_link_cont reply=1 about=${n}c $i" "add_link ${n}c from=confirm_link"
		over "$n" "${n}b"
	done
	group "an RMB that is not known, and then the one that is: a connection goes to the new link"
	second
	cat <<-E
		add_link ${n}c until=cont_reply
		tx llc add_link_cont reply=1 about=${n}c n=2 ref1=0x77 rkey1=1 va1=1 ref2=%rkey rkey2=%{${n}c:rkey} va2=%{${n}c:va}
		add_link ${n}c from=confirm_link
		tx llc delete_link about=${n}b orderly=1 reason=0x20000
		conn ${n}x
	E
	moved "${n}c"
	printf '%s\n' "on $n rx llc delete_link reply=0 all=0 orderly=1 about=${n}b" "on $n tx llc delete_link reply=1 about=${n}b"
	over "$n" "${n}c"
	for i in 4 2 0 255; do
		group "three RTokens, and then $i instead of one"
		second
		printf '%s\n' "add_link ${n}c until=cont_reply" \
			"tx llc add_link_cont reply=1 about=${n}c n=3 ref2=%rkey rkey2=1 va2=1" \
			"rx llc add_link_cont reply=0 n=0" "tx llc add_link_cont reply=1 link=3 n=$i ref1=%rkey rkey1=1 va1=1 ref2=%rkey rkey2=1 va2=1 expect=gone"
		carrier 0x40000
	done

	# LLC-04: replies come on the link of the request, notices may use any
	group "each reply on the link of its request"
	second
	printf '%s\n' "add_link ${n}c"
	for i in "$n" "${n}c" "${n}b" "${n}c" "$n"; do
		cat <<-E
			on $i tx llc test_link data=0011223344556677889900aabbccddee
			on $i rx llc test_link reply=1 data=0011223344556677889900aabbccddee
			on $i tx llc delete_link link=77
			on $i rx llc delete_link reply=1 link=77 reason=0x100000
			on $i tx llc delete_rkey n=1 rkey1=0x99
			on $i rx llc delete_rkey reply=1 negative=1
			on $i tx llc confirm_rkey link1=9
			on $i rx llc confirm_rkey reply=1 negative=1
		E
	done
	# CDC on any link, and from one to the other
	for i in "${n}c" "${n}b" "$n" "${n}c"; do
		printf '%s\n' "link $i"
		both 6
		echo "check rx_link $n"
	done
	# a notice at the maximum is ignored, on any link
	for i in "$n" "${n}b" "${n}c"; do echo "on $i tx llc add_link gid=%{${n}c:gid} mac=%{${n}c:mac} qpn=0 link=0 psn=0"; done
	echo "rx none 500ms link"
	over "$n" "${n}b"

	group "TEST LINK is answered on the wrong link: that one says what it was not asked, the other was not answered"
	second
	cat <<-E
		add_link ${n}c
		set auto_test=0
		on ${n}b rx llc test_link reply=0
		on ${n}c rx llc test_link reply=0
		rx llc test_link reply=0
		tx llc test_link reply=1
		on ${n}b tx llc test_link reply=1
		set auto_test=1
		on ${n}b tx llc test_link reply=1 data=%{${n}c:last_test} expect=gone
	E
	deleted "${n}b" 0x40000
	# which has the fewest connections
	printf '%s\n' "conn ${n}x" "wait cdc has=F" "check rx_link ${n}c" "conn $n"
	deleted "${n}c" 0x10000 7s
	echo "conn ${n}x"
	moved "$n"
	over "$n"

	# last, as the puppet has more than one RMB from there on
	group "RTokens of a link that was not confirmed mean nothing on the next one"
	second
	printf '%s\n' "rx llc add_link reply=0 link=3" "$no" "rmb" "tx llc confirm_rkey" "rx llc confirm_rkey reply=1 negative=0" \
		"tx llc add_link gid=%{${n}c:gid} mac=%{${n}c:mac} qpn=0 link=0 psn=0" \
		"add_link ${n}c until=cont_reply" \
		"tx llc add_link_cont reply=1 about=${n}c ref2=%rkey rkey2=0x7777 va2=0x7f0000000000" \
		"on ${n}c rx llc confirm_link reply=0"
	# nor is it used yet: the connection is on one of the others
	cat <<-E
		conn ${n}y
		link $n
		connect $PEER 5000
		reuse until=confirm
		tx confirm
		accepted
		tx data len=5
		rx data len=5
		close
		conn $n
		on ${n}c qp rts
		on ${n}c tx llc confirm_link reply=1 qpn=^2 expect=gone
	E
	deleted "${n}c" 0x40000
	cat <<-E
		on ${n}c qp destroy
		link ${n}d of $n
		nic $(rnic 2)
		link $n
		tx llc add_link gid=%{${n}d:gid} mac=%{${n}d:mac} qpn=0 link=0 psn=0
		add_link ${n}d until=cont_reply
		tx llc add_link_cont reply=1 about=${n}d n=0
		add_link ${n}d from=confirm_link
		on ${n}d tx llc delete_rkey n=1 rkey1=0x7777
		on ${n}d rx llc delete_rkey reply=1 negative=1 mask=0x80
	E
	over "$n" "${n}b"
	echo "on ${n}d qp destroy"
}

# noticed LINK REASON: a client's module asks for its deletion, over the current one
noticed() { printf '%s\n' "rx llc delete_link reply=0 all=0 orderly=0 about=$1 reason=$2"; }

as_server() {
	local i
	puppet=server
	group "a third link; data over any of them, while those of the client stay on theirs"
	second
	echo "add_link ${n}c"
	for i in "${n}b" "${n}c" "$n"; do
		echo "link $i"
		both 6
		echo "check rx_link $n"
	done
	over "$n" "${n}b"

	# LLC-29, over either link
	for i in "" b; do
		group "an MTU that there is not, offered over link $n$i"
		second
		cat <<-E
			on $n$i tx llc add_link mtu=6 link=9
			on $n$i rx llc add_link reply=1 rejected=1 reason=2 link=9
			on $n$i tx llc add_link mtu=0 link=9
			on $n$i rx llc add_link reply=1 rejected=1 reason=2 link=9
			on ${n}c qp create
			# a card of the puppet that has a link: there could only be a
			# second asymmetric one
			on $n$i tx llc add_link about=${n}c link=9 mac=%{$n:mac} gid=%{$n:gid}
			on $n$i rx llc add_link reply=1 rejected=1 reason=1 link=9
		E
		over "$n" "${n}b"
	done

	# LLC-21
	for i in 'qpn=^2' 'mac=~' 'gid=~' 'link=2' 'link=77'; do
		group "CONFIRM LINK of the third has $i"
		second
		printf '%s\n' "add_link ${n}c until=confirm_link" "on ${n}c tx llc confirm_link $i expect=gone"
		noticed "${n}c" 0x40000
		echo "delete_link ${n}c"
		over "$n" "${n}b"
	done
	group "CONFIRM LINK of the third comes over the first"
	second
	printf '%s\n' "add_link ${n}c until=confirm_link" \
		"tx llc confirm_link mac=%{${n}c:mac} gid=%{${n}c:gid} qpn=%{${n}c:qpn} link=3"
	noticed "${n}c" 0x40000
	echo "delete_link ${n}c"
	over "$n" "${n}b"

	# the link that carries the offer is the second one: it fails, and the new one with it
	for i in 'ref1=^1' 'n=2 ref2=0x77 rkey2=1 va2=1'; do
		group "ADD LINK CONTINUATION with $i: an RMB that is not known"
		second
		printf '%s\n' "on ${n}b add_link ${n}c until=cont" "on ${n}b tx llc add_link_cont about=${n}c $i" "on ${n}b add_link ${n}c from=cont_reply"
		over "$n" "${n}b"
	done
	for i in 'link=9' 'n=2' 'n=1 @8=00000000000000000000000000000000' 'n=255 ref1=1'; do
		group "ADD LINK CONTINUATION with $i"
		second
		printf '%s\n' "on ${n}b add_link ${n}c until=cont" "on ${n}b tx llc add_link_cont about=${n}c $i expect=gone"
		spoilt
	done
	group "three RTokens and one: the last reply is empty"
	second
	printf '%s\n' "on ${n}b add_link ${n}c until=cont" \
		"on ${n}b tx llc add_link_cont about=${n}c n=3 ref2=%{${n}b:rkey} rkey2=1 va2=1" \
		"on ${n}b rx llc add_link_cont reply=1 about=${n}c" \
		"on ${n}b tx llc add_link_cont link=3 n=1 ref1=%{${n}b:rkey} rkey1=1 va1=1" \
		"on ${n}b rx llc add_link_cont reply=1 link=3 n=0" "on ${n}b add_link ${n}c from=confirm_link"
	over "$n" "${n}b"

	group "three RTokens, and then 255 instead of one"
	second
	printf '%s\n' "on ${n}b add_link ${n}c until=cont" \
		"on ${n}b tx llc add_link_cont about=${n}c n=3 ref2=%{${n}b:rkey} rkey2=1 va2=1" \
		"on ${n}b rx llc add_link_cont reply=1" "on ${n}b tx llc add_link_cont link=3 n=255 ref1=%{${n}b:rkey} rkey1=1 va1=1 ref2=%{${n}b:rkey} rkey2=1 va2=1 expect=gone"
	spoilt
	for i in "" b; do
		group "another offer in the midst of one, over link $n$i: the first one was given up"
		second
		printf '%s\n' "on ${n}b add_link ${n}c until=cont" "on ${n}c qp destroy" "let gone=3" \
			"link ${n}d of $n" "nic $(rnic 2)" "conn $n" "link $n" "on $n$i add_link ${n}d"
		over "$n" "${n}b"
		echo "on ${n}d qp destroy"
	done
	for i in cont confirm_link; do
		group "a new RMB in the midst of an offer, instead of $i: the offer was given up"
		second
		cat <<-E
			on ${n}b add_link ${n}c until=$i
			tx llc test_link data=00112233445566778899aabbccddeeff
			rx llc test_link reply=1 data=00112233445566778899aabbccddeeff
			on ${n}c qp destroy
			let gone=3
			tx llc confirm_rkey rkey=0x11223344 va=0x7f0012340000 n=1 link1=2 rkey1=0x11223355 va1=0x7f0012340000
			rx llc confirm_rkey reply=1 negative=0
		E
		over "$n" "${n}b"
	done
	for i in 1 2; do
		group "a link number that there is: $i"
		second
		printf '%s\n' "on ${n}b tx llc add_link link=$i expect=gone"
		noticed "${n}b" 0x40000
		printf '%s\n' "conn ${n}x"
		moved "$n"
		echo "delete_link ${n}b"
		over "$n"
	done
}
spoilt() {
	noticed "${n}c" 0x10000
	noticed "${n}b" 0x40000
	printf '%s\n' "conn ${n}x"
	moved "$n"
	printf '%s\n' "delete_link ${n}c" "delete_link ${n}b"
	over "$n"
}

# calls SCRIPT: the calls of the program at the other host for each group of SCRIPT
calls() {
	local i
	while read -r i; do
		open 1
		open 2
		case $i in
		*"RTokens of a link"*) open 3; echo "recv:1=eof close" ;;
		*"stay on theirs"*) echo "slot:1 send:6 recv:6 send:6 recv:6 send:6 recv:6" ;;
		*"each reply"*) echo "slot:1 recv:6 send:6 recv:6 send:6 recv:6 send:6 recv:6 send:6" ;;
		esac
		if [ "$ROLE" = server ]; then
			echo "slot:1 recv:7 send:7 recv:1=eof close slot:2 recv:7 send:7 recv:1=eof close"
		else
			echo "slot:1 send:7 recv:7 recv:1=eof close slot:2 send:7 recv:7 recv:1=eof close"
		fi
	done < <(grep '^print ----' "$1")
}
open() {
	if [ "$ROLE" = server ]; then echo "slot:$1 accept:0 recv:5 send:5"; else echo "slot:$1 socket connect:$PEER:5001 send:5 recv:5"; fi
}

server() {
	local words
	fast max_links=3 t_link_retry=3600000 t_testlink=1000
	n=0 as_client > "$CASEDIR/as-client"
	mapfile -t words < <(calls "$CASEDIR/as-client" | tr ' ' '\n')
	app_bg limit:60 socket listen:5000 mark:up "${words[@]}"
	app_end "server program"

	n=0
	pup_bg -t 100 < <(
		printf '%s\n' "listen 5001" "mark up2"
		as_server
	)
	pup_end "puppet as server"
}

client() {
	local words
	n=0
	await up
	pup "puppet as client" -t 100 < <(as_client)
	await up2
	fast max_links=3 t_link_retry=3600000 t_testlink=1000
	n=0 as_server > "$CASEDIR/as-server"
	mapfile -t words < <(calls "$CASEDIR/as-server" | tr ' ' '\n')
	app "client program" limit:60 "${words[@]}"
}
