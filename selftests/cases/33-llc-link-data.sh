# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CONFIRM LINK of the first link: values that differ from what CLC announced are an error;
# any user ID and any number of links of the peer are accepted.
#
# Whichever completion comes first, the client declines and the application goes on over
# TCP (LLC-21, as far as there is one link); the server, whose request was answered, resets.
# Either side destroys its queue pair at the wrong message, which may not be acknowledged
# (expect=gone), while all messages before it were.
#
# covers: LG-10 LLC-18 LLC-21 LLC-22
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

max_links() { "$SMCCTL" -j linkgroup | jq -c '[.. | objects | ."max-links"? // empty] | unique'; }

server() {
	local i calls=()
	for i in {1..4}; do calls+=(accept:0 recv:5 send:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${calls[@]}"
	app_end "accept() returned only the good ones"
	# the smaller of both: this host has 8, and a larger number has no effect (I-15: 0
	# and 1 are 2)
	eq "links that the groups may have" "$(max_links)" "[2,8]"

	pup_bg < <(
		echo "listen 5001"
		echo "mark up2"
		for i in 'mac=~' 'gid=~' 'qpn=^2' 'link=0'; do
			cat <<-E
				conn $i
				accept
				first_contact until=confirm_link
				# the client destroys its queue pair at once
				tx llc confirm_link $i expect=gone
				rx decline s=0 diag=0x06070000
				rx app len=5
				tx app len=5
				tx fin
				rx eof
				qp destroy
			E
		done
		cat <<-E
			# the reply instead of the request
			conn reply
			accept
			first_contact until=confirm_link
			tx llc confirm_link reply=1 expect=gone
			rx rst
			qp destroy
			set max_links=4 link_num=200
			conn max
			accept
			first_contact until=confirm_link
			tx llc confirm_link
			# the answer is neither 0 nor more than was offered
			rx llc confirm_link reply=1 link=200 max_links=4
			tx llc add_link
			rx llc add_link reply=1
			rx data len=5
			tx data len=5
			close
			# nor more than the client wants
			set peer_id=0002525400000001 max_links=8
			conn fewer
			link fewer
			accept
			first_contact until=confirm_link
			tx llc confirm_link
			rx llc confirm_link reply=1 max_links=3
			tx llc add_link
			rx llc add_link reply=1
			rx data len=5
			tx data len=5
			close
		E
	)
	pup_end "puppet as server"
}

client() {
	local i n=0
	await up
	pup "wrong values in the reply" < <(
		for i in 'link=77' 'link=0' 'qpn=^2' 'gid=~' 'mac=~'; do
			cat <<-E
				conn $i
				connect $PEER 5000
				first_contact until=confirm_link_reply
				tx llc confirm_link reply=1 $i expect=gone
				rx rst
				qp destroy
			E
		done
		cat <<-E
			# only servers send the request
			conn ask
			connect $PEER 5000
			first_contact until=confirm_link_reply
			tx llc confirm_link reply=0 expect=gone
			rx rst
			qp destroy
		E
	)
	pup "any number of links and any user ID will do" < <(
		for i in 'max_links=0' 'max_links=1' 'max_links=9' 'user_id=0'; do
			n=$((n + 1))
			cat <<-E
				conn $i
				connect $PEER 5000
				set peer_id=000${n}525400000002
				first_contact until=confirm_link
				rx llc confirm_link reply=0 max_links>=2 max_links<=8 link!=0
				qp rts
				tx llc confirm_link reply=1 $i
				rx llc add_link
				tx llc add_link reply=1
				tx data len=5
				rx data len=5
				close
				qp destroy
			E
		done
	)
	await up2
	for i in mac gid qpn link; do
		app "declined: $i" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	done
	app "a reply that nobody asked for" socket "connect:$PEER:5001=ECONNRESET" close
	app "good" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	fast max_links=3
	app "good, with fewer links" socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
	# the group of a failed first contact takes a moment to be freed
	fewer() { [ "$(max_links)" = "[3,4]" ]; }
	check "links that the groups may have" eventually 5 fewer
}
