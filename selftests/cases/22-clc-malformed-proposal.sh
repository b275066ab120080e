# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Where a Proposal is due, everything else ends the TCP connection, and accept() does not
# return it.
#
# covers: CLC-03 CLC-09 CLC-12 CLC-22 CLC-50
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	# The only one that accept() may return is the good one at the end.
	app_bg limit:60 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "only the good client was accepted"
	app_bg limit:60 socket:smc6 listen:5006 mark:up6 slot:1 accept:0 recv:5 send:5 recv:1=eof close
	app_end "IPv6: only the good client was accepted"
}

to=$PEER port=5000
bad() {
	local what
	for what in "$@"; do
		echo "conn $((++n))"
		echo "connect $to $port"
		echo "tx proposal $what"
		echo "rx rst"
	done
}

bad_raw() {
	local what
	for what in "$@"; do
		echo "conn $((++n))"
		echo "connect $PEER 5000"
		echo "$what"
		echo "rx rst"
	done
}

client() {
	local n=1 i
	await up
	# Each byte of the leading and of the trailing eye catcher.
	pup "eye catchers" < <(for i in 0 1 2 3 48 49 50 51; do bad xor@$i=01; done)
	pup "eye catchers of a later version" < <(for i in 0 3 48 51; do bad "version=2 xor@$i=01"; done)
	pup "unknown message types" < <(bad @4=00 @4=05 @4=ff)
	pup "length is not that of a Proposal" < <(bad @5=0000 @5=0007 @5=0033 "@5=0035 add=00" "@5=ffff" "@5=0034 cut=40 text=SMCSMCSMCSMC")
	pup "version 0" < <(bad @7=00)
	pup "prefix count and length disagree" < <(bad @47=01 "@47=09" @47=ff "@5=00cd @47=09 add=$(printf '00%.0s' {1..149})e2d4c3d9")
	pup "growth area beyond the length" < <(bad @38=0001 @38=0008 @38=ffff "@38=fff0 @5=0134 add=$(printf '00%.0s' {1..256})")
	pup "IPv4 prefix longer than 32" < <(bad @44=21 @44=ff)
	pup "IPv6 prefix longer than 128" < <(bad "prefix=fd77:0::/64 @64=81")
	pup "IPv6 prefixes on IPv4" < <(bad "prefix=fd77:0::/64" "net=10.77.0.0/24 prefix=fd77:0::/64 prefix=fd77:1::/64")
	pup "zero GID" < <(bad "@16=$(printf '00%.0s' {1..16})")
	pup "application data" < <(bad_raw 'tx app "GET / HTTP/1.0"' 'tx app "0123456789012345678901234567890123456789012345678901234567890123456789"')
	pup "Accept from a client" < <(bad_raw "tx raw e2d4c3d90200441834cd020000000501fe80000000000000000000fffe000501020000000501000111a1b2c3d401cafe0001230000007f0012340000000a0b0ce2d4c3d9")
	pup "Confirm as the first message" < <(bad_raw "tx raw e2d4c3d90300441012ab020000000c01fe80000000000000000000fffe000c01020000000c010002221122334401beef0001150000007f005678000000010203e2d4c3d9")
	pup "two Proposals in a row" <<-E
		connect $PEER 5000
		tx proposal
		rx accept first=1
		tx proposal
		rx rst
	E
	pup "FIN in the middle of a Proposal" <<-E
		connect $PEER 5000
		tx proposal cut=30
		tx fin
		rx end
	E
	pup "a good client afterwards" <<-E
		connect $PEER 5000
		first_contact
		tx data len=5
		rx data len=5
		close
	E

	await up6
	to=$PEER6 port=5006
	# malformed prefixes are found before a match is looked for: two prefixes, one of
	# them wrong
	pup "IPv6: prefix longer than 128" < <(bad "@64=81" "@64=ff" "prefix=fd77:9::/64 @64=81" "prefix=fd77:9::/64 @81=81")
	pup "IPv6: a subnet of IPv4" < <(bad "noprefix net=10.77.0.0/24" "noprefix net=0.0.0.0/1")
	pup "IPv6: prefix count and length disagree" < <(bad "@47=00" "@47=02" "@47=09")
	pup "IPv6: a good client afterwards" <<-E
		set peer_id=0002525400000002
		connect $PEER6 5006
		first_contact
		tx data len=5
		rx data len=5
		close
	E
}
