# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RNIC of the second link of a group has no memory region for another RMB. The RMB
# is given up: the connection that needs it is TCP, and both links stay, with the connections
# on them. When the RNIC has memory regions again the next connection uses SMC-R.
#
# covers: RMB-11
# module: ours none
# nics: 2/2
# timeout: 30
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet rmb links fault
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

# regions WHEN: those of card 1 are refused then
regions() { echo "$1" > "$(_sim 1)/fault/alloc_mr"; }

server() {
	_is_sim || skip "memory regions are refused in the simulation only"
	local i calls=()
	# four elements in the first RMB of this size
	fast max_links=2 rmem=65536 t_lgr_idle=60000
	for i in 1 2 3; do calls+=("slot:$i" accept:0 recv:5); done
	calls+=(mark:three slot:4 accept:0 recv:5 slot:5 accept:0 recv:5 send:5 recv:1=eof close slot:6 accept:0 recv:5)
	for i in 1 2 3 4 6; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:25 socket listen:5000 mark:up "${calls[@]}"
	await three
	# ENOSPC: not each device reports a lack of memory regions by ENOMEM
	regions "1+ fail 28"
	mark none
	await declined
	check "regions were refused" test "$(sed 's/.*fired //' "$(_sim 1)/fault/alloc_mr")" -gt 0
	check "both links are there" have 2
	regions 0
	mark some
	app_end "server program"
	eq "links that failed" "$(counter link-down)" 0
	eq "out of memory, once" "$(counter no-memory)" 1
}

client() {
	_is_sim || skip "memory regions are refused in the simulation only"
	local i
	await up
	pup "puppet as client" <<-E
		$(links 2)
		connect $PEER 5000
		first_contact until=add_link
		add_link 2
		accepted
		let rkey=%peer_rkey
		tx data len=5
		taken
		$(new 2)
		$(new 3)
		await none
		$(new 4)
		conn 5
		connect $PEER 5000
		tx proposal
		rx decline s=0 diag=0x01010000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
		# no link is deleted
		rx none 500ms link
		on 1 tx llc test_link
		on 1 rx llc test_link reply=1
		on 2 tx llc test_link
		on 2 rx llc test_link reply=1
		mark declined
		await some
		conn 6
		connect $PEER 5000
		tx proposal
		rx accept first=0 rkey!=%rkey index=1
		tx confirm
		tx data len=5
		$(for i in 1 2 3 4 6; do printf '%s\n' "conn $i" "rx data len=5" "close"; done)
		check offences 0
	E
}
