# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Only peers in a directly attached subnet get an Accept. A peer behind a router gets a
# Decline and goes on with TCP, whatever subnet its Proposal names, and neither a link
# group nor a queue pair is created for it.
#
# covers: CLC-25 CLC-26 CLC-28 SEC-02
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

qps() { rdma -j resource show qp | jq '[.[] | select(.type == "RC")] | length'; }
no_qp() { [ "$(qps)" = 0 ]; }

server() {
	local i calls=() made
	for i in {1..6}; do calls+=(accept:0 recv:5 send:5 recv:1=eof close); done
	app_bg limit:60 socket listen:5000 mark:up slot:1 "${calls[@]}"
	app_end "IPv4"
	calls=()
	for i in {1..7}; do calls+=(accept:0 recv:5 send:5 recv:1=eof close); done
	app_bg limit:60 socket:smc6 listen:5006 mark:up6 slot:1 "${calls[@]}"
	app_end "IPv6"
	check "no queue pair is left" eventually 10 no_qp
	made=$(counter lgr-created)
	ip route add 10.99.0.2/32 via "$PEER"
	ip -6 route add fd99:0::2/128 via "$PEER6"
	app_bg limit:60 socket listen:5000 mark:up7 slot:1 accept:0 recv:5 mark:declined await:counted send:5 recv:1=eof close
	router
	app_end "IPv4, a router"
	app_bg limit:60 socket:smc6 listen:5006 mark:up8 slot:1 accept:0 recv:5 mark:declined6 await:counted6 send:5 recv:1=eof close
	router 6
	app_end "IPv6, a router"
	ip route del 10.99.0.2/32
	ip -6 route del fd99:0::2/128
}

# router [6]: the objects that the connection from behind the router has created
router() {
	await "declined${1:-}"
	eq "IPv${1:-4}, a router: link groups" "$(counter lgr-created)" "$made"
	eq "IPv${1:-4}, a router: queue pairs" "$(qps)" 0
	mark "counted${1:-}"
}

declined() {
	local what
	for what in "$@"; do
		n=$((n + 1))
		cat <<-E
			conn $n
			connect $ADDR $PORT
			tx proposal $what
			rx decline s=0 diag=0x03070000
			tx app len=5
			rx app len=5
			tx fin
			rx eof
		E
	done
}

client() {
	local n=1 ADDR=$PEER PORT=5000
	await up
	pup "foreign IPv4 subnets are declined" < <(declined net=10.78.0.0/24 net=10.77.0.0/16 net=10.77.0.0/25 \
		net=10.77.0.2/32 net=0.0.0.0/0)
	pup "the right one is not" <<-E
		connect $PEER 5000
		tx proposal net=10.77.0.0/24
		rx accept
		tx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	await up6
	ADDR=$PEER6 PORT=5006
	pup "foreign prefixes, and none" < <(declined "noprefix" "noprefix prefix=fe80::/64" "noprefix prefix=fd78:0::/64" "noprefix prefix=fd77::/32 prefix=fd77:0:0:1::/64" \
		"noprefix $(printf 'prefix=fd7%s:9::/64 ' 1 2 3 4 5 6 8 9)")
	pup "a subnet of IPv4 in place of prefixes is no Proposal for IPv6" <<-E
		connect $PEER6 5006
		tx proposal noprefix net=10.77.0.0/24
		rx rst
	E
	pup "the last of eight prefixes matches" <<-E
		connect $PEER6 5006
		tx proposal noprefix $(printf 'prefix=fd7%s:9::/64 ' 1 2 3 4 5 6 8) prefix=fd77:0::/64
		rx accept
		tx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	pup "the link-local prefix matches between link-local addresses" <<-E
		connect fe80::5054:ff:fe00:1%%eth0 5006
		tx proposal noprefix prefix=fe80::/64
		rx accept
		tx decline
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	# connections come from addresses that the server reaches by way of a router
	ip addr add 10.99.0.2/32 dev lo
	ip -6 addr add fd99:0::2/128 dev lo
	ip route add "$PEER/32" dev eth0 src 10.99.0.2
	ip -6 route add "$PEER6/128" dev eth0 src fd99:0::2
	n=1 ADDR=$PEER PORT=5000
	await up7
	pup "the right IPv4 subnet, from elsewhere" < <(declined net=10.77.0.0/24)
	ADDR=$PEER6 PORT=5006
	await up8
	pup "the right prefix, from elsewhere" < <(declined "noprefix prefix=fd77:0::/64")
	ip route del "$PEER/32"
	ip -6 route del "$PEER6/128"
}
