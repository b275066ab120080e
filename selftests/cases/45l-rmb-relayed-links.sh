# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Another host of the LAN relays the CLC data of a group with two links that it has seen,
# in Confirms and in Accepts: the second link, with the element of a live connection, one
# beyond the RMB, and one of another size. The server resets its connections, the client
# declines them. Both links stay, and the connection of the group goes on over either.
#
# covers: SEC-11
# module: ours ours
# nics: 2/2
# timeout: 60
# needs: synopt
# allow-klog: add_dma_entry|DMA-API: Mapped at|cacheline tracking EEXIST -- a puppet's memory is registered with both RNICs
# tags: puppet clc rmb links
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"
# shellcheck source=selftests/prog/links.sh
. "$PROG/links.sh"

FORGED=("index=3" "index=255" "bsize=5")

two() { printf '%s\n' "link 2 of 1" "nic $(rnic 1)" "link 1"; }
# both: the two links of the group carry messages, and the module has lost none
both() { for i in 1 2; do printf '%s\n' "on $i tx llc test_link" "on $i rx llc test_link reply=1"; done; }
unhurt() {
	eq "$1: no link was lost" "$(counter link-down)" 0
	says "$1: links" '.state' "$2"
}

server() {
	local f i
	fast max_links=2 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	ip addr add 10.77.0.101/24 dev eth0
	other_host 10.77.0.111
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 slot:2 accept:0 \
		recv:5 mark:relays await:refused slot:1 send:5 recv:5 send:5 recv:5 mark:looked recv:1=eof close \
		slot:2 send:5 recv:1=eof close
	await looked
	unhurt "Confirms" "rts rts rts"
	eq "Confirms that were refused" "$(counter clc-link)" ${#FORGED[@]}
	mark over
	app_end "server program"

	# shellcheck disable=SC2119
	pup_bg < <(
		two
		cat <<-'E'
			listen 5001
			mark up2
			set index=3
			accept
			first_contact until=add_link
			add_link 2
			rx data len=5
			link 2
			# the other host's Accepts name this link
			set index=4
		E
		for f in "${FORGED[@]}"; do
			forged_accept "$f" 0x06130000 "$f"
		done
		both
		printf '%s\n' "conn 1" "link 1" "tx data len=5" "rx data len=5" "move 2" "tx data len=5" \
			"rx data len=5" "await looked2" close "check offences 0"
	)
	pup_end "puppet as server"
	other_host_undo
}

client() {
	local f i calls=()
	fast max_links=2 t_lgr_idle=60000 t_testlink=0 t_link_retry=3600000
	other_host 10.77.0.102
	ip route add 10.77.0.101/32 dev mv0 src 10.77.0.102
	await up
	pup "relayed Confirms are refused" < <(
		two
		cat <<-E
			set index=3
			conn victim
			connect $PEER 5000
			first_contact until=add_link
			add_link 2
			tx data len=5
			set index=4
			conn relay
			link 3
			connect 10.77.0.101 5000
			first_contact until=add_link
			# over the other card, and refused
			rx llc add_link reply=0
			first_contact from=add_link_reply
			tx data len=5
			await relays
		E
		for f in "${FORGED[@]}"; do
			printf '%s\n' "conn relay" "conn $f" "connect 10.77.0.101 5000" "reuse until=confirm" \
				"link 2" "tx confirm $f" "rx rst" "tx close"
		done
		both
		cat <<-E
			mark refused
			conn victim
			rx data len=5
			tx data len=5
			rx data len=5
			move 2
			tx data len=5
			await over
			close
			conn relay
			rx data len=5
			close
			check offences 0
		E
	)
	await up2
	for f in "${FORGED[@]}"; do
		calls+=(slot:1 socket connect:10.77.0.111:5001 send:5 recv:1=eof close)
	done
	app_bg limit:30 socket "connect:$PEER:5001" send:5 "${calls[@]}" slot:0 recv:5 send:5 recv:5 send:5 mark:sent2 \
		recv:1=eof close
	await sent2
	unhurt "Accepts" "rts rts"
	eq "Accepts that were declined" "$(counter other-host)" ${#FORGED[@]}
	mark looked2
	app_end "client program"
	other_host_undo
}
