# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A Proposal with a growth area before the subnet field, of the length in its offset
# field: the area is skipped, and all that follows is parsed.
#
# covers: CLC-20
# module: ours none
# timeout: 30
# needs: synopt
# tags: puppet clc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local echo5=(slot:1 accept:0 recv:5 send:5 recv:1=eof close)
	app_bg limit:20 socket listen:5000 mark:up "${echo5[@]}" "${echo5[@]}"
	app_end "IPv4"
	app_bg limit:20 socket:smc6 listen:5006 mark:up6 "${echo5[@]}"
	app_end "IPv6"
}

# rest of a first contact behind the Proposal, and data
rest() {
	printf '%s\n' "rx accept first=1" "qp create" "qp rtr" "tx confirm" "rx llc confirm_link" "qp rts" \
		"tx llc confirm_link reply=1" "rx llc add_link" "tx llc add_link reply=1" \
		"tx data len=5" "rx data len=5" "close" "qp destroy"
}

client() {
	await up
	pup "8 bytes before an IPv4 subnet" < <(
		echo "connect $PEER 5000"
		# if it were not skipped it would be a subnet, none of this host
		echo "tx proposal @5=003c @38=0008 grow@40=c0000200180000ff"
		rest
	)
	pup "and before one that is not ours" <<-E
		set peer_id=0002525400000002
		connect $PEER 5000
		tx proposal net=192.0.2.0/24 @5=003c @38=0008 grow@40=0a4d0000180000ff
		rx decline s=0 diag=0x03070000
		tx app len=5
		rx app len=5
		tx fin
		rx eof
	E
	await up6
	pup "8 bytes before IPv6 prefixes" < <(
		echo "set peer_id=0003525400000002"
		echo "connect $PEER6 5006"
		echo "tx proposal @5=004d @38=0008 grow@40=ffffffffffffffff"
		rest
	)
}
