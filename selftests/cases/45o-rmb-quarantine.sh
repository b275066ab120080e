# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The quarantine of an element ends after T_ABORT although another RMB of the group is
# idle, whose time is longer: the housekeeping of RMBs runs for the earlier of both.
#
# covers: RMB-23
# module: ours none
# timeout: 30
# needs: synopt
# tags: puppet rmb
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

server() {
	local i calls=()
	fast rmem=65536 t_abort=300 t_rmb_free=60000 t_lgr_idle=60000
	for i in {1..6}; do calls+=("slot:$i" accept:0 recv:5 send:5); done
	for i in {1..4}; do calls+=("slot:$i" recv:1=eof close); done
	app_bg limit:20 socket listen:5000 mark:up "${calls[@]}" mark:idle slot:5 recv:1=ECONNRESET close mark:reset \
		slot:6 recv:1=eof close
	await reset 20
	check "the quarantine ends" eventually 5 elems_used 1
	mark free
	app_end "program"
}

client() {
	local i
	await up
	pup "an element in quarantine beside an idle RMB" < <(
		cat <<-E
			set peer_id=0002525400000002
			conn c1
			connect $PEER 5000
			first_contact
			tx data len=5
			rx data len=5
			let rkey1=%peer_rkey
		E
		for i in 2 3 4; do printf '%s\n' "conn c$i" "connect $PEER 5000" "reuse" "tx data len=5" "rx data len=5"; done
		# the first RMB has four elements
		for i in 5 6; do
			printf '%s\n' "conn c$i" "connect $PEER 5000" "tx proposal" "rx accept first=0 rkey!=%rkey1" "tx confirm" \
				"tx data len=5" "rx data len=5"
		done
		for i in 1 2 3 4; do printf '%s\n' "conn c$i" "close"; done
		cat <<-E
			conn c5
			await idle
			tx rst
			rx cdc has=A
			conn c6
			await free
			close
		E
	)
}
