# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Clients that flood their group with LLC: TEST LINK, notices, RKeys that are confirmed
# and deleted, at strange addresses, DELETE LINK of unknown links, messages out of place
# and impossible counts. Their groups may end. Another peer's group goes on in time
# meanwhile, and no connection and no group is left behind.
#
# covers: SEC-11
# module: ours ours
# timeout: 90
# needs: synopt
# tags: puppet llc
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

hurry() { fast t_llc=500 t_llc_first=1000 t_lgr_idle=1000 t_testlink=0 t_link_retry=3600000; }

# many LINE: $i in it is its number, $va an address. Without a fork for each line: there are thousands
many() {
	local i va line
	for ((i = 1; i <= MANY; i++)); do
		printf -v va '0x%x' $((i * 0x100000001))
		eval "line=\"$1\""
		printf '%s nowait expect=any\n' "$line"
	done
}
# shellcheck disable=SC2016
FLOODS=(
	'tx llc test_link data=000102030405060708090a0b0c0d0e0f'
	'tx llc confirm_rkey rkey=$((i * 77)) va=$va n=0 link1=0 rkey1=0 va1=0'
	'tx llc confirm_rkey rkey=0 va=0xffffffffffffffff n=0 link1=0 rkey1=0 va1=0'
	'tx llc confirm_rkey rkey=$i va=0 n=1 link1=$((i % 255 + 1)) rkey1=$i va1=0'
	'tx llc delete_rkey n=3 rkey1=$i rkey2=$i rkey3=$i'
	'tx llc delete_link link=$((i % 254 + 2)) reason=$i orderly=$((i % 2))'
	'tx llc add_link qpn=$((i % 2 * i)) link=$((i % 3 * i)) psn=0 mtu=$((i % 16)) gid=00000000000000000000000000000000'
	'tx llc add_link qpn=$((i + 2)) link=$((i % 250 + 3)) psn=$i mtu=3'
	'tx llc confirm_rkey_cont n=$i link1=1 rkey1=$i va1=$i'
	'tx llc add_link_cont n=$((i + 55)) link=2 ref1=$i rkey1=$i va1=$i'
	'tx llc confirm_rkey n=$((i + 55)) link1=1 link2=1'
)
# flooded HOW: scripts of all groups; a last one does all of it in one group
flooded() {
	local f i n=0
	for f in "${FLOODS[@]}" ALL; do
		n=$((n + 1))
		printf '%s\n' "print ---- ${f//%/ mod }" "set peer_id=$(printf %04x $n)525400000002" "link $n" "conn $n"
		case $1 in
		client) printf '%s\n' "connect $PEER 5000" first_contact accepted "tx data len=5" taken ;;
		server) printf '%s\n' accept first_contact "rx data len=5" ;;
		esac
		# to a link that has failed the puppet can post no more than its send queue holds
		MANY=200
		case $n in 9 | 10 | 11) MANY=20 ;; esac
		if [ "$f" = ALL ]; then
			MANY=4
			for i in "${FLOODS[@]:0:8}" "${FLOODS[@]:0:8}"; do many "$i"; done
		else
			many "$f"
		fi
		printf '%s\n' "sleep 100ms" "tx rst" "on $n qp destroy"
	done
}

# The neighbour: five bytes each way, every 100 ms
ROUNDS=60
conversation() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do printf '%s\n' "tx data len=5" "rx data len=5 1s" "sleep 100ms"; done
	echo close
}
replies() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do echo recv:5 send:5; done
	echo recv:1=eof close
}
idle() { [ "$(counter conn-created)" = "$(counter conn-freed)" ] && [ "$(counter lgr-created)" = "$(counter lgr-freed)" ]; }

server() {
	local calls=() i
	hurry
	for i in "${FLOODS[@]}" ALL; do calls+=(slot:2 accept:0 recv:5 close); done
	# shellcheck disable=SC2046
	bg "$SOCKCMD" -a limit:60 socket listen:5001 mark:near slot:1 accept:0 $(replies)
	app_bg limit:60 socket listen:5000 mark:up "${calls[@]}"
	app_end "the flooded program"
	wait "$BG"
	check "the neighbour's program" true
	check "nothing is left" poll 20 idle
}

client() {
	await near
	await up
	_synopt
	{
		printf '%s\n' "set peer_id=ffff525400000002" "connect $PEER 5001" first_contact "mark talking"
		conversation
	} > "$CASEDIR/neighbour"
	bg "$PUPPET" -t 60 "$CASEDIR/neighbour"
	await talking
	pup "floods" -t 60 < <(flooded client)
	wait "$BG"
	check "a neighbour of the floods" true
}
