# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The first RNIC of a group with two links is removed, so that its RMBs are registered with
# the second RNIC only. An RMB that is withdrawn then is out of the peer's reach over the
# link that is left, before its memory may go to another group; so are all when the group
# ends.
#
# covers: RMB-06 RMB-27 SEC-08
# module: ours none
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# memory regions of the module with card N
mrs() { rdma -jd resource show mr dev "$(rnic "$1")" | jq '[.[] | select((.comm // "") | test("smcr"))] | length'; }
registered() { [ "$(mrs 1)" = "$1" ]; }

server() {
	local i calls=()
	# four elements in the first RMB of this size
	fast max_links=2 rmem=65536 t_rmb_free=400 t_lgr_idle=60000 t_link_retry=3600000
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..6}; do calls+=("slot:$i" send:5); done
	for i in {1..6}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	await three 20
	bg rnic_delete 0
	check "the first device goes" eventually 6 no_rnic 0
	mark gone
	app_end "server program"
	check "one RMB is left, that of the last connections" eventually 5 registered 1
	mark over
	# the write that was refused has ended the group
	check "none is left with the group" eventually 10 registered 0
	rnic_add 0
	check "the device is back" eventually 10 rnic_usable 0
}

client() {
	local i
	await up
	pup "withdrawn from the second device" < <(
		two_link_group
		new 2
		new 3
		cat <<-E
			mark three
			on 2 rx llc delete_link reply=0 all=0 orderly=1 about=1 5s
		E
		for i in 1 2 3; do printf '%s\n' "conn $i" "move 2"; done
		cat <<-E
			on 2 tx llc delete_link reply=1 about=1
			on 1 qp destroy
			await gone
			conn 4
			link 2
			connect $PEER 5000
			tx proposal
			# the last element of the first RMB, with its key on the second link
			rx accept first=0 index=4
			tx confirm
			accepted
			tx data len=5
			taken
			let rkey=%peer_rkey va=%peer_va
		E
		for i in 5 6; do
			printf '%s\n' "conn $i" "link 2" "connect $PEER 5000" "tx proposal" "rx accept first=0 rkey!=%rkey" \
				"tx confirm" "accepted" "tx data len=5" "taken"
		done
		for i in {1..6}; do printf '%s\n' "conn $i" "rx data len=5"; done
		# those in the first RMB end
		for i in {1..4}; do printf '%s\n' "conn $i" "close"; done
		cat <<-E
			conn 5
			rx llc delete_rkey reply=0 n=1 rkey1=%rkey 5s
			# it is there until this is answered
			write off=0 len=16 rkey=%rkey va=%va byte=77
			tx llc delete_rkey reply=1 rkey1=%rkey
			rx none 300ms link
			close
			conn 6
			close
			check offences 0
			await over
			write off=0 len=16 rkey=%rkey va=%va byte=77 expect=err
		E
	)
}
