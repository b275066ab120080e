# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer has confirmed the RKey of a new RMB, which gives out no elements yet, when a link
# is added: it is among those that ADD LINK CONTINUATION counts.
#
# covers: RMB-05
# module: ours none
# nics: 3/3
# timeout: 60
# needs: uml
# why: its times are tried on UML only, and an emulated processor takes four times as long
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet race llc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	local i calls=()
	fast rmem=65536 max_links=3 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	latch rmb-publish
	# four elements in the first RMB of this size
	for i in {1..4}; do calls+=("slot:$i" accept:0 recv:5); done
	for i in {1..4}; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	holds rmb-publish
	mark held
	await added 20
	unlatch rmb-publish
	mark open
	app_end "server program"
}

client() {
	local i
	await up
	pup "puppet as client" < <(
		links 3 3
		printf '%s\n' "set max_links=3" "connect $PEER 5000" "first_contact until=add_link" "add_link 2" \
			"rx llc add_link reply=0" "tx llc add_link reply=1" accepted "tx data len=5" "let rkey1=%peer_rkey"
		for i in 2 3 4; do printf '%s\n' "conn c$i" "connect $PEER 5000" reuse accepted "tx data len=5"; done
		cat <<-E
			await held
			link 1
			tx llc add_link gid=%{3:gid} mac=%{3:mac} qpn=0 link=0 psn=0
			add_link 3 until=cont
			rx llc add_link_cont reply=0 about=3 n=2 ref1=%rkey1
			add_link 3 from=cont_reply
			mark added
			await open
		E
		for i in 1 c2 c3 c4; do printf '%s\n' "conn $i" "rx data len=5" "close"; done
		echo "check offences 0"
	)
}
