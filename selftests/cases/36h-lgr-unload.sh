# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is removed when its peer is gone: the removal waits neither for the answer to
# DELETE LINK nor for the acknowledgment of the peer's adapter. The same for a namespace
# with such a group, and for groups that wait already.
#
# covers: LG-43
# module: none none
# timeout: 60
# needs: synopt
# tags: puppet lgr
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# in_time DESC CMD...: less than the ACK timeout of a queue pair (3.8 s) and T_LLC
in_time() {
	local desc=$1 begin=${EPOCHREALTIME/./}; shift
	check "$desc" "$@" || :
	begin=$(((${EPOCHREALTIME/./} - begin) / 1000))
	check "$desc: $begin ms" test $begin -lt $((SLOW > 1 ? 3600 : 2500)) || :
}

lacks_group() { ! "$SMCCTL" -j linkgroup | jq -e --argjson i "$1" '.. | objects | select(."lgr-id"? == $i)' > /dev/null; }

server() {
	local echo5=(slot:1 accept:0 recv:5 send:5 recv:1=eof close)
	local i
	for i in 1 2; do
		load_smcr
		app_bg limit:20 socket listen:5000 mark:up$i "${echo5[@]}" "${echo5[@]}"
		app_end "server program"
		await gone$i
		# they have begun to wait
		[ $i = 1 ] || "$SMCCTL" -j linkgroup | jq '.. | objects | ."lgr-id"? // empty' |
			while read -r i; do
				# in real time the RNIC may have given it up just now
				"$SMCCTL" linkgroup delete "$i" || check "it has ended" poll 5 lacks_group "$i"
			done
		in_time "rmmod" unload_smcr
		mark unloaded$i
	done
}

client() {
	local i
	for i in 1 2; do
		await up$i
		pup "two peers, which end without a word" <<-E
			set peer_id=0001525400000002
			connect $PEER 5000
			first_contact
			tx data len=5
			rx data len=5
			close
			conn 2
			link 2
			set peer_id=0002525400000002
			connect $PEER 5000
			first_contact
			tx data len=5
			rx data len=5
			close
		E
		mark gone$i
		await unloaded$i
	done
}
