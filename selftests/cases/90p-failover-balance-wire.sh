# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The messages of smcctl linkgroup balance, as a puppet sees them. Four connections are on
# one link, and a second one has come. Two of them send F over the lighter one, with the
# number of the last message that came over the old one, and nothing is sent or written
# again: the next message has the next number. The other two stay where they are, and send
# nothing. What the puppet sends stays on its link.
#
# covers: FO-06 FO-07 LG-47
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet lgr links failover
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

balanced_is() { [ "$(counter conn-balanced)" = "$1" ]; }

server() {
	local i calls=() more=() ends=()
	at_once max_links=2 t_lgr_idle=60000 t_testlink=30000
	smc_reset
	for i in {1..4}; do
		calls+=("slot:$i" accept:0 recv:5)
		more+=("slot:$i" "send:10$i")
		ends+=("slot:$i" recv:5 "recv:1=eof" close)
	done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}" slot:1 send:100 slot:2 send:100 slot:3 send:100 slot:4 send:100 \
		await:spread "${more[@]}" "${ends[@]}"
	await two
	check "balance" "$SMCCTL" linkgroup balance
	check "two connections move for it" eventually 5 balanced_is 2
	mark spread
	app_end "server program"
	smc_was "server" 4 4
	eq "none has lost its link" "$(moved)" 0
	eq "data that were lost" "$(counter cdc-validation)" 0
	eq "bytes that were written again" "$(counter bytes-again)" 0
}

client() {
	local n
	await up
	pup "an even load" <<-E
		$(links 2)
		connect $PEER 5000
		first_contact until=add_link
		rx llc add_link reply=0
		tx llc add_link reply=1
		accepted
		tx data len=5
		taken
		$(for n in 2 3 4; do new "$n"; done)
		$(for n in 1 2 3 4; do printf '%s\n' "conn $n" "rx data len=100" "check rx_link 1" "let last$n=%peer_seq"; done)
		conn 1
		tx llc add_link gid=%{2:gid} mac=%{2:mac} qpn=0 link=0 psn=0
		add_link 2
		mark two
		$(for n in 1 2; do printf '%s\n' "conn $n" "rx cdc has=F seq=%last$n" "check rx_link 2"; done)
		$(for n in 1 2; do printf '%s\n' "conn $n" "rx cdc seq=2 prod=20$n hasnot=F" "rx data len=10$n" "check rx_link 2"; done)
		$(for n in 3 4; do printf '%s\n' "conn $n" "rx cdc seq=2 prod=20$n hasnot=F" "rx data len=10$n" "check rx_link 1"; done)
		$(for n in 1 2 3 4; do printf '%s\n' "conn $n" "link 1" "tx data len=5"; done)
		$(for n in 1 2 3 4; do printf '%s\n' "conn $n" close; done)
		check offences 0
	E
}
