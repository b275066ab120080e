# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A host invents peer IDs and begins a first contact with each. Its address gets a quarter
# of max_first_contacts, and Declines from then on, while other addresses, of either
# family, still get Accepts until all of them together have reached the limit. The IPv6
# addresses of one /64 count as one, because a host may use any number of them. A first
# contact that ends makes room. With a limit below four each address gets one.
#
# covers: SEC-11 SEC-13
# module: ours none
# timeout: 40
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

OWN=(10.77.0.101 10.77.0.102 10.77.0.103)
OWN6=(fd77:0::101 fd77:0::102)

server() {
	local addr
	for addr in "${OWN[@]}"; do ip addr add "$addr/24" dev eth0; done
	for addr in "${OWN6[@]}"; do ip addr add "$addr/64" dev eth0 nodad; done
	fast max_first_contacts=8 t_clc=20000
	app_bg limit:60 socket listen:5000:64 socket:smc6 listen:5006:64 mark:up await:over close
	await eight
	eq "declined for their number" "$(counter first-limit)" 5
	echo 3 > /proc/sys/net/smcr/max_first_contacts
	mark three
	app_end "server program"
	eq "and those of the second limit" "$(counter first-limit)" 7
}

n=0
# try ADDR PORT ANSWER...: a new peer's Proposal
try() {
	n=$((n + 1))
	printf '%s\n' "conn p$n" "set peer_id=$(printf %04x $n)525400000002" "connect $1 $2" "tx proposal" "rx ${*:3}"
}
accepted="accept first=1" declined="decline s=0 diag=0x060d0000"

client() {
	local addr i
	# each address of the server gets its connections from another address of this host
	for addr in "${OWN[@]}"; do
		ip addr add "${addr/.10/.11}/24" dev eth0
		ip route add "$addr/32" dev eth0 src "${addr/.10/.11}"
	done
	for addr in "${OWN6[@]}"; do
		ip addr add "${addr/::10/::11}/64" dev eth0 nodad
		ip -6 route add "$addr/128" dev eth0 src "${addr/::10/::11}"
	done
	await up
	pup "a share for each address" < <(
		for addr in "$PEER" "${OWN[0]}"; do
			echo "# $addr"
			for _ in 1 2; do try "$addr" 5000 "$accepted"; done
			try "$addr" 5000 "$declined"
		done
		try "${OWN[1]}" 5000 "$accepted"
		echo "# IPv6"
		try "$PEER6" 5006 "$accepted"
		try "${OWN6[0]}" 5006 "$accepted"
		try "${OWN6[1]}" 5006 "$declined"
		echo "# the last one of eight"
		try "${OWN[2]}" 5000 "$accepted"
		echo "# all are under way: nobody gets one, share or not"
		try "${OWN[2]}" 5000 "$declined"
		try "$PEER6" 5006 "$declined"
		echo "# one ends"
		cat <<-E
			conn p1
			tx rst
			sleep 500ms
		E
		try "$PEER" 5000 "$accepted"
		echo "mark eight"
		echo "await three"
		for ((i = 1; i <= n; i++)); do printf '%s\n' "conn p$i" "tx rst"; done
		echo "sleep 500ms"
		try "$PEER" 5000 "$accepted"
		try "$PEER" 5000 "$declined"
		try "${OWN[0]}" 5000 "$accepted"
		try "${OWN[0]}" 5000 "$declined"
		echo "mark over"
	)
}
