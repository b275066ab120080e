# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A message of the exchange from ADD LINK to CONFIRM LINK is missing. The module as
# server: without the reply to CONFIRM LINK the new link is deleted and added again later;
# in first contact data, and other connections, wait for the reply, or for the reply to
# the deletion. Without the reply to ADD LINK or to ADD LINK CONTINUATION the link that
# carries them fails, and the next offer comes over another one. All objects of the new
# link are freed. The module as client: without ADD LINK CONTINUATION first contact fails,
# or later the link that carries it; without CONFIRM LINK in first contact it asks for the
# deletion of the new link, and connect() waits for that.
#
# covers: LG-23 LG-52 LLC-10 LLC-24 LLC-25 LLC-33 LLC-42 LLC-43 LG-25
# module: ours ours
# nics: 3/3
# timeout: 120
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with all RNICs
# tags: puppet llc links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# group N TEXT: a group of its own: link N, and Nb and Nc to be added to it; connection N
group() {
	cat <<-E
		print ---- $2
		set peer_id=000${1}525400000002 max_links=3
		link $1
		nic $(rnic 0)
		link ${1}b of $1
		nic $(rnic 1)
		link ${1}c of $1
		nic $(rnic 2)
		conn $1
		link $1
	E
}
# waited: one T_LLC or T_LLC_FIRST since start
waited() { echo "elapsed 1200ms 3s"; }

# carrier N: the link that carried the offer of Nc, the first one, has failed at the
# server and is deleted, and so is the new one. The next offer comes over the second one,
# where the connection goes on
carrier() {
	echo "on ${1}b rx llc delete_link reply=0 all=0 orderly=0 about=$1 reason=0x10000 5s"
	waited
	cat <<-E
		on ${1}b tx llc delete_link reply=1 about=$1
		on ${1}b rx llc delete_link reply=0 all=0 orderly=0 about=${1}c reason=0x10000
		on ${1}b tx llc delete_link reply=1 about=${1}c
		on ${1}b rx llc add_link reply=0 rejected=0 link=4
		on ${1}b tx llc add_link reply=1 link=4
		wait cdc has=F
		check rx_link ${1}b
		move ${1}b
		rx data len=5
		tx data len=5
		close
		check offences 0
	E
}

one_qp() { [ "$(rdma resource show qp | grep -c 'comm \[smcr' || :)" = 1 ]; }

as_client() {
	group 1 "the reply to CONFIRM LINK does not come: deleted, and tried again"
	cat <<-E
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0
		tx llc add_link reply=1
		accepted
		rx data len=5
		tx llc add_link gid=%{1b:gid} mac=%{1b:mac} qpn=0 link=0 psn=0
		add_link 1b until=confirm_link_reply
		start
		rx llc delete_link reply=0 all=0 orderly=0 about=1b reason=0x10000 5s
	E
	waited
	cat <<-E
		tx llc delete_link reply=1 about=1b
		start
		on 1b qp destroy
		mark deleted
		await deleted.seen
		rx llc add_link reply=0 rejected=0 9s
		elapsed 3500ms 6s
		tx llc add_link reply=1
		mark refused
		await refused.seen
		tx data len=5
		close
		check offences 0
		qp destroy
	E
	group 2 "in first contact data wait for the end of the link"
	cat <<-E
		connect $PEER 5000
		first_contact until=add_link
		add_link 2b until=confirm_link_reply
		start
		rx llc delete_link reply=0 all=0 orderly=0 about=2b reason=0x10000 5s
	E
	waited
	cat <<-E
		rx none 300ms
		tx llc delete_link reply=1 about=2b
		on 2b qp destroy
		accepted
		rx data len=5
		tx data len=5
		close
		check offences 0
		qp destroy
	E
	group 5 "until the reply to CONFIRM LINK nothing uses the group"
	cat <<-E
		set max_links=2
		connect $PEER 5000
		first_contact until=add_link
		add_link 5b until=confirm_link_reply
		conn 5.2
		connect $PEER 5000
		tx proposal
		rx none 100ms
		on 5b tx llc confirm_link reply=1
		conn 5
		accepted
		rx data len=5
		tx data len=5
		close
		conn 5.2
		rx accept first=0
		tx confirm
		rx data len=5
		tx data len=5
		close
		check offences 0
		qp destroy
	E
	group 3 "the reply to ADD LINK does not come"
	cat <<-E
		connect $PEER 5000
		first_contact until=add_link
		add_link 3b
		accepted
		rx llc add_link reply=0 rejected=0 about=3c
		start
	E
	carrier 3
	group 4 "the reply to ADD LINK CONTINUATION does not come"
	cat <<-E
		connect $PEER 5000
		first_contact until=add_link
		add_link 4b
		accepted
		add_link 4c until=cont_reply
		start
	E
	carrier 4
}

as_server() {
	group 1 "ADD LINK CONTINUATION does not come in first contact"
	cat <<-E
		accept
		first_contact until=add_link
		add_link 1b until=cont
		start
		rx rst 5s
	E
	waited
	printf '%s\n' "on 1 qp destroy" "on 1b qp destroy"
	group 2 "nor later, over the second link"
	cat <<-E
		accept
		first_contact until=add_link
		add_link 2b
		rx data len=5
		on 2b add_link 2c until=cont
		start
		rx llc delete_link reply=0 all=0 orderly=0 about=2c reason=0x10000 5s
	E
	waited
	cat <<-E
		rx llc delete_link reply=0 all=0 orderly=0 about=2b reason=0x10000
		delete_link 2c
		delete_link 2b
		tx data len=5
		close
		check offences 0
		qp destroy
	E
	group 3 "CONFIRM LINK does not come in first contact"
	cat <<-E
		accept
		first_contact until=add_link
		add_link 3b until=confirm_link
		start
		rx llc delete_link reply=0 all=0 orderly=0 about=3b reason=0x10000 5s
	E
	waited
	cat <<-E
		rx none 200ms
		delete_link 3b
		rx data len=5
		# it has two more RNICs
		rx llc add_link reply=0 rejected=0 qpn=0 link=0 psn=0 9s
		elapsed 5000ms 8s
		tx data len=5
		close
		check offences 0
	E
}

# T_LINK_RETRY is longer than what goes before
knobs() { fast max_links=3 t_llc=1500 t_llc_first=1500 t_link_retry=4000 t_testlink=0 t_lgr_idle=60000; }

server() {
	local calls=()
	knobs
	for _ in {1..6}; do calls+=(accept:0 send:5 recv:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${calls[@]}"
	await deleted 30
	check "the queue pair of the link that was not confirmed is gone" eventually 3 one_qp
	mark deleted.seen
	await refused 30
	check "that of the link that was refused, too" eventually 3 one_qp
	mark refused.seen
	app_end "server program"
	eq "link groups" "$(counter lgr-created)" 5

	pup_bg < <(
		printf '%s\n' "listen 5001" "mark up2"
		as_server
	)
	pup_end "puppet as server"
}

client() {
	await up
	pup "puppet as client" < <(as_client)
	knobs
	await up2
	app "client program" limit:40 socket "connect:$PEER:5001=ETIMEDOUT" close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close \
		socket "connect:$PEER:5001" send:5 recv:5 recv:1=eof close
}
