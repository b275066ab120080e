# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Another host of the LAN relays six hundred Accepts and six hundred Confirms of a group
# that it has not formed, with the peer ID, GID, MAC, queue pair and key of the host that
# has, for an element in use, one beyond the RMB, and one of another size. All are
# refused: Accepts by a Decline, Confirms by a reset of the relay's own TCP connections.
# Meanwhile new connections of another user in that group take as long as before, and an
# existing one goes on; no link is lost, and the server has no group for what was refused.
#
# covers: SEC-11 SEC-13
# module: ours ours
# timeout: 150
# needs: synopt
# tags: puppet clc rmb stress
# shellcheck source=selftests/prog/forger.sh
. "$PROG/forger.sh"
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/usual.sh
. "$PROG/usual.sh"

N=$((600 / DEAR)) M=$((90 / DEAR))
# an element that is in use, one beyond the RMB, another size
WHERE=("index=1" "index=255" "index=1 bsize=5")
PLAIN=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# first_of OBJECT KEY: the first value with this name
first_of() { "$SMCCTL" -ja "$1" | jq -r "first(.. | objects | .\"$2\"? // empty)"; }

# relayed: the fields of this host's Accepts and Confirms
relayed() {
	# shellcheck disable=SC2086
	printf 'peer_id=%s gid=00000000000000000000ffff%02x%02x%02x%02x mac=%s qpn=%s rkey=%s' \
		"$(first_of show peer-id)" ${ME//./ } "$(< /sys/class/net/eth0/address)" \
		"$(first_of link qpn)" "$(first_of rmb rkey)"
}

groups() { "$SMCCTL" -ja linkgroup | jq '[.. | objects | select(has("lgr-id"))] | length'; }
goes_on() { ! gone "$1"; }

server() {
	local i forged
	ip addr add 10.77.0.101/24 dev eth0
	other_host 10.77.0.111
	usual_serve 5010
	app_bg limit:130 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 recv:5 send:5 \
		recv:5 send:5 recv:1=eof close
	await known 60
	forged=$(relayed)
	# shellcheck disable=SC2119
	pup_bg < <(
		# the queue pair is for the values that are not relayed; no link is made of it
		printf '%s\n' "conn f" "listen 5001" "qp create" "mark up2"
		for ((i = 0; i < N; i++)); do forged_accept f 0x06130000 "$forged" "${WHERE[i % 3]}"; printf '%s\n' "tx close"; done
		echo "qp destroy"
	)
	pup_end "Accepts are declined"
	bg "$SOCKCMD" limit:100 socket listen:5002 mark:up3 slot:1 accept:0 recv:5 await:confirms \
		send:5 recv:1=eof close
	i=$BG
	await confirms 90
	eq "Confirms that were refused" "$(smc_sum clc-link)" "$N"
	check "the relay's own connection: server" wait "$i"
	app_end "a connection that there was: server"
	eq "no link was lost" "$(smc_sum link-down)" 0
	check "groups: that of the two hosts, and the relay's own at most ($(groups))" test "$(groups)" -le 2
	other_host_undo
}

client() {
	local i calls=() attack own forged
	other_host 10.77.0.102
	ip route add 10.77.0.101/32 dev mv0 src 10.77.0.102
	await up
	app_bg limit:130 socket "connect:$PEER:5000" send:5 recv:5 mark:old await:accepts \
		send:5 recv:5 await:confirms send:5 recv:5 close
	await old
	usual_before "$PEER" 5010 $M
	mark known
	for ((i = 0; i < N; i++)); do calls+=(socket nodelay:1 connect:10.77.0.111:5001 send:5 recv:1=eof close); done
	await up2
	bg "${PLAIN[@]}" "$SOCKCMD" limit:100 slot:1 "${calls[@]}"
	attack=$BG
	usual_now "beside Accepts" "$PEER" 5010 $M
	check "they go on until then" goes_on "$attack"
	check "connections whose Accept is relayed are TCP" wait "$attack"
	eq "for this reason" "$(smc_sum other-host)" "$N"
	mark accepts

	forged=$(relayed)
	own=${forged%% *}
	await up3
	pup "Confirms are refused" < <(
		printf '%s\n' "set $own" "conn pick" "connect $PEER 5010 opt=0" "tx close" "conn own" "connect 10.77.0.101 5002" first_contact "tx data len=5" "mark begun"
		for ((i = 0; i < N; i++)); do
			printf '%s\n' "conn f" "connect 10.77.0.101 5002" "reuse until=confirm" \
				"tx confirm $forged ${WHERE[i % 3]}" "rx rst" "tx close"
		done
		printf '%s\n' "mark confirms" "conn own" "rx data len=5" close
	) &
	attack=$!
	await begun
	usual_now "beside Confirms" "$PEER" 5010 $M
	check "they go on until then" goes_on "$attack"
	wait "$attack"
	app_end "a connection that there was: client"
	eq "no link was lost" "$(smc_sum link-down)" 0
	other_host_undo
}
