# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Another host of the LAN relays the CLC data of a group that it has seen. As a client it
# is not offered that group, but one of its own. As a server it names the group's link
# with the element of a live connection, one beyond the RMB, one of another size, or a
# valid one: each time the client declines, because a write there could end the link with
# all its connections. A host with several addresses has one group (31b), also with
# addresses of IPv4 and of IPv6. By an interface with another MAC it is another host, but
# if both sides see it so no connection runs over TCP for that.
#
# covers: SEC-11
# module: ours ours
# timeout: 60
# needs: synopt
# tags: puppet clc rmb
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"

FORGED=("index=3" "index=255" "bsize=5" "index=4")

server() {
	local f
	ip addr add 10.77.0.101/24 dev eth0
	other_host 10.77.0.111
	app_bg limit:30 socket listen:5000 mark:up slot:1 accept:0 recv:5 mark:first slot:2 accept:0 \
		recv:5 send:5 recv:1=eof close slot:1 recv:5 send:5 recv:1=eof close
	app_end "server program"

	# shellcheck disable=SC2119
	pup_bg < <(
		cat <<-'E'
			listen 5001
			mark up2
			set index=3
			accept
			first_contact
			rx data len=5
			# the other host's Accepts name this link
			set index=4
		E
		for f in "${FORGED[@]}"; do
			forged_accept "$f" 0x06130000 "$f"
		done
		printf '%s\n' "conn 1" "tx data len=5" close
	)
	pup_end "puppet as server"

	app_bg limit:30 socket:smc6 listen:5002 mark:up3 slot:1 accept:0 recv:5 slot:2 accept:0 recv:5 \
		slot:1 send:5 recv:1=eof close slot:2 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close
	app_end "at both interfaces"
	other_host_undo
}

client() {
	local f fell first calls=()
	other_host 10.77.0.102
	ip route add 10.77.0.101/32 dev mv0 src 10.77.0.102
	await up
	pup "another host gets a group of its own" <<-E
		conn victim
		connect $PEER 5000
		first_contact
		tx data len=5
		await first
		conn relay
		link 2
		connect 10.77.0.101 5000
		first_contact
		tx data len=5
		rx data len=5
		close
		conn victim
		tx data len=5
		rx data len=5
		close
	E
	await up2
	for f in "${FORGED[@]}"; do
		calls+=(slot:1 socket connect:10.77.0.111:5001 send:5 recv:1=eof close)
	done
	app "what another host names is declined" \
		socket "connect:$PEER:5001" send:5 "${calls[@]}" slot:0 recv:5 recv:1=eof close
	eq "with its reason" "$(counter other-host)" ${#FORGED[@]}
	await up3
	fell=$(counter client-fallbacks)
	app "SMC-R by both interfaces" slot:1 socket "connect:$PEER:5002" send:5 slot:2 socket \
		connect:10.77.0.111:5002 send:5 slot:1 recv:5 close slot:2 recv:5 close
	first=$(counter client-first-contacts)
	app "by IPv6" socket:smc6 "connect:$PEER6:5002" send:5 recv:5 close
	eq "none over TCP" "$(counter client-fallbacks)" "$fell"
	eq "IPv6: in the group that there is" "$(counter client-first-contacts)" "$first"
	other_host_undo
}
