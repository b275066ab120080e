# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The RNIC in Accept is that of the subnet which the client proposes, whatever
# way the TCP packets take.
#
# covers: CLC-27
# module: ours none
# nics: 2
# timeout: 30
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

mac() { tr -d : < "/sys/class/net/eth$1/address"; }
gid4() {
	local a
	IFS=. read -ra a <<< "$1"
	printf '00000000000000000000ffff%02x%02x%02x%02x' "${a[@]}"
}

server() {
	local echo5=(slot:1 accept:0 recv:5 send:5 recv:1=eof close)
	# lo comes first among the interfaces in this subnet, but has no RNIC
	ip addr add 10.77.1.77/24 dev lo noprefixroute
	mark macs "$(mac 0) $(mac 1)"
	app_bg limit:20 socket listen:5000 mark:up "${echo5[@]}" "${echo5[@]}" "${echo5[@]}"
	app_end "server program"
	app_bg limit:20 socket:smc6 listen:5006 mark:up6 "${echo5[@]}" "${echo5[@]}"
	app_end "server program, IPv6"
}

to=$PEER port=5000
# asked MAC FIELDS [GID]: TCP goes by eth0
asked() {
	cat <<-E
		conn $1
		connect $to $port
		tx proposal $2
		rx accept first=1 mac=$1 ${3:+gid=$3}
		tx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
}

client() {
	local mac0 mac1
	await macs
	read -r mac0 mac1 <<< "$MARK"
	await up
	pup "the card of the subnet" < <(
		asked "$mac0" net=10.77.0.0/24 "$(gid4 "$PEER")"
		asked "$mac1" net=10.77.1.0/24 "$(gid4 "$(peer 1)")"
	)
	# data over the RNIC that it names: this end's RNIC is in that subnet, TCP's
	# addresses are not
	pup "data by that card" -d "$(rnic 1)" <<-E
		set net=10.77.1.0/24
		conn 2
		connect $PEER 5000
		tx proposal
		rx accept first=1 gid=$(gid4 "$(peer 1)") mac=$mac1
		first_contact from=qp
		tx data len=5
		rx data len=5
		close
		qp destroy
	E
	await up6
	to=$PEER6 port=5006
	pup "the card of the prefix" < <(
		echo "set peer_id=0002525400000002"
		asked "$mac0" "noprefix prefix=fd77:0::/64"
		asked "$mac1" "noprefix prefix=fd77:1::/64"
	)
}
