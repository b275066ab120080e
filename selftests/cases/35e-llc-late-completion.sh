# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The completion of CONFIRM LINK and the peer's reply to it come at the same time. ADD
# LINK follows, which the peer's adapter does not acknowledge: the completion is not that
# of ADD LINK, so there is still a Decline, because ADD LINK could not be sent.
#
# covers: CLC-57 LLC-12
# module: ours none
# timeout: 60
# needs: uml latch
# tags: puppet llc clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

server() {
	_is_sim || skip "completions are late in the simulation only"
	fast t_llc_first=30000 t_llc=30000 t_clc=30000 t_testlink=0 qp_timeout=13
	# delay of the interrupt, until the reply has come
	echo 200000000 > "$(_sim 0)/cq_delay"
	app_bg limit:20 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "TCP carries what LLC could not"
	echo 0 > "$(_sim 0)/cq_delay"
	eq "links that failed" "$(counter link-down)" 1
}

client() {
	_is_sim || skip "completions are late in the simulation only"
	await up
	pup "ADD LINK" <<-E
		set rq=1 repost=0
		connect $PEER 5000
		first_contact until=add_link
		sleep 500ms
		start
		qp destroy
		rx decline s=0 diag=0x02020000 5s
		elapsed 10ms 3s
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
}
