# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Several cards of each host on one LAN (`# nics: 2/1`): any card reaches any other, over
# IPv4, IPv6 and by RDMA, and each sends and answers with its own addresses only.
#
# module: none
# nics: 3/2
# timeout: 60
# tags: lab
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# through N CMD...: does ethN alone send the packets of CMD? (One host at a time, because
# replies are counted, too.)
through() {
	local i before=() want
	for ((i = 0; i < NICS; i++)); do before[i]=$(<"/sys/class/net/eth$i/statistics/tx_packets"); done
	"${@:2}" > /dev/null || return
	for ((i = 0; i < NICS; i++)); do
		want=$((i == $1 ? 20 : 0))
		# some ARP and ICMPv6 packets are not of CMD
		[ $(($(<"/sys/class/net/eth$i/statistics/tx_packets") - before[i])) -ge $want ] || return
		[ "$i" = "$1" ] || [ $(($(<"/sys/class/net/eth$i/statistics/tx_packets") - before[i])) -lt 20 ] || return
	done
}

both() {
	local i j
	eq "cards here" "$NICS" "$([ "$ID" = 1 ] && echo 3 || echo 2)"
	eq "cards there" "$PEER_NICS" "$([ "$ID" = 1 ] && echo 2 || echo 3)"
	for ((i = 0; i < NICS; i++)); do
		for ((j = 0; j < PEER_NICS; j++)); do
			check "eth$i to eth$j" through "$i" ping -qnc20 -i 0.01 -W1 -I "$(me "$i")" "$(peer "$j")"
			check "eth$i to eth$j, IPv6" through "$i" ping -qnc20 -i 0.01 -W1 -I "$(me6 "$i")" "$(peer6 "$j")"
		done
	done
}

server() {
	local i j
	both
	mark server-pinged
	await client-pinged
	for ((i = 0; i < NICS; i++)); do
		for ((j = 0; j < PEER_NICS; j++)); do
			pup_bg -d "$(rnic "$i")" <<-E
				listen 5000
				accept
				first_contact
				rx data len=40000 consume
				close
			E
			poll 10 listening 5000
			mark "up.$i.$j"
			pup_end "rnic $i from rnic $j"
			await "over.$i.$j"
		done
	done
}

client() {
	local i j
	await server-pinged
	both
	mark client-pinged
	for ((i = 0; i < PEER_NICS; i++)); do
		for ((j = 0; j < NICS; j++)); do
			await "up.$i.$j"
			pup "rnic $j to rnic $i" -d "$(rnic "$j")" <<-E
				connect $(peer "$i") 5000
				first_contact
				tx data len=40000
				close
			E
			mark "over.$i.$j"
		done
	done
}
