# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link is lost while CONFIRM RKEY is not answered. The module as server: the link that
# carried it fails. The request is not repeated but made anew when the group is stable,
# over another link, with the RMB's key there and without the lost link. The module as
# client: the server deletes another link, which is answered; the client's request is
# refused then, and sent again without that link. That one crosses the server's ADD LINK and
# is refused, and sent again with the new link.
#
# covers: LLC-13 LLC-77 LLC-85 LLC-87
# module: ours ours
# nics: 3/3
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with several RNICs
# tags: puppet llc rmb links
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# four elements in the first RMB of this size
knobs() { fast rmem=65536 max_links=3 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000; }

as_server() {
	local i
	cat <<-E
		$(links 3 3)
		set max_links=3 auto_rkey=0
		listen 5001
		mark up2
		accept
		first_contact until=add_link
		add_link 2
		add_link 3
		rx data len=5
	E
	for i in 2 3 4; do printf '%s\n' "conn $i" accept reuse "rx data len=5"; done
	cat <<-E
		conn 1
		rx llc confirm_rkey reply=0 n=2 link1=%{2:link_num} link2=%{3:link_num} 10s
		tx llc delete_link about=3 orderly=1 reason=0x20000
		rx llc delete_link reply=1 about=3
		on 3 qp destroy
		tx llc confirm_rkey reply=1 negative=1 retry=1
		rx llc confirm_rkey reply=0 n=1 link1=%{2:link_num}
		link 4 of 1
		nic $(rnic 2)
		link 1
		add_link 4 until=add_link_reply
		tx llc confirm_rkey reply=1 negative=1 retry=1
		add_link 4 from=add_link_reply
		rx llc confirm_rkey reply=0 n=2 link1=%{2:link_num} link2=%{4:link_num}
		tx llc confirm_rkey reply=1
	E
	for i in 1 2 3 4; do printf '%s\n' "conn $i" "tx data len=5" close; done
	echo "check offences 0"
}

server() {
	local i calls=()
	knobs
	for i in {1..4}; do calls+=("slot:$i" accept:0 recv:5); done
	calls+=(await:stable)
	for i in {1..4}; do calls+=("slot:$i" send:5 recv:1=eof close); done
	app_bg limit:40 socket listen:5000 mark:up "${calls[@]}"
	app_end "server program"
	eq "RMBs made" "$(counter rmb-created)" 2

	pup_bg < <(as_server)
	pup_end "puppet as server"
}

client() {
	local i calls=()
	await up
	pup "puppet as client" < <(
		cat <<-E
			$(links 3 3)
			set max_links=3 auto_rkey=0
			connect $PEER 5000
			first_contact until=add_link
			add_link 2
			add_link 3
			accepted
			tx data len=5
		E
		for i in 2 3 4; do printf '%s\n' "conn c$i" "connect $PEER 5000" reuse accepted "tx data len=5"; done
		cat <<-E
			on 1 rx llc confirm_rkey reply=0 n=2 link1=%{2:link_num} link2=%{3:link_num} 10s
			let old=%{1:asked_va}
			# an unknown message
			on 1 tx send 002c$(printf '00%.0s' {1..42}) expect=gone
			on 2 rx llc delete_link reply=0 all=0 orderly=0 about=1 reason=0x40000
			on 2 tx llc delete_link reply=1 about=1
			on 2 rx llc confirm_rkey reply=0 n=1 link1=%{3:link_num} va!=%old
			on 2 tx llc confirm_rkey reply=1
			mark stable
		E
		for i in 1 c2 c3 c4; do printf '%s\n' "conn $i" "move 2" "rx data len=5" close; done
		echo "check offences 0"
	)
	knobs
	for i in {1..4}; do calls+=("slot:$i" socket "connect:$PEER:5001" send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:5 recv:1=eof close); done
	await up2
	app "client program" limit:40 "${calls[@]}"
}
