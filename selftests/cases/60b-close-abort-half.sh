# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An abort behind a half-close, of the own direction, of the peer's, or of both, while
# data wait that cannot be posted yet. A is sent, then nothing is written and no CDC is
# sent any more, although the peer has room; element and connection are freed afterwards,
# at once when the peer answers.
#
# covers: CONN-31
# module: ours none
# timeout: 60
# needs: synopt
# tags: puppet conn
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# The directions that are closed before
ENDS=(none peer own both)

free() { [ "$("$SMCCTL" -j rmb | jq '[.. | objects | select(has("used"))] | map(.used + .quarantined) | add // 0')" = "$1" ]; }

server() {
	local i calls=()
	fast t_testlink=0 t_abort=20000 t_close=20000 t_lgr_idle=60000
	# this one is small, and so waits for the completion of the one before
	for i in "${ENDS[@]}"; do
		calls+=(accept:0 "await:go.$i" send:10000 send:100)
		case $i in peer | both) calls+=("recv:1=eof") ;; esac
		case $i in own | both) calls+=(shut:wr) ;; esac
		calls+=(linger:0 "mark:now.$i" close "await:next.$i")
	done
	app_bg limit:40 socket listen:5000 mark:up slot:1 "${calls[@]}"
	for i in "${ENDS[@]}"; do
		await "answered.$i" 30
		check "$i: no element is in use, or kept" eventually 5 free 0
		mark "next.$i"
	done
	app_end "server program"
	eq "T_ABORT ran out" "$(counter timer-abort)" 0
}

client() {
	local i n=0 end
	await up
	for i in "${ENDS[@]}"; do
		n=$((n + 1))
		# a half close sends all that there is room for; its D waits for the completion
		case $i in own | both) end=10100 ;; *) end=10000 ;; esac
		pup "$i closed half before" < <(
			cat <<-E
				# receives for CONFIRM LINK and ADD LINK
				set peer_id=000${n}525400000002 rq=2 repost=0
				connect $PEER 5000
				first_contact
				fill
			E
			[[ $i != peer && $i != both ]] || echo "tx cdc flags=D"
			cat <<-E
				mark go.$i
				await now.$i
				sleep 200ms
				# written, but not announced; and nothing behind it
				check untouched off=$end
				check cdcs 0
				qp receives 100
				wait cdc has=A prod=$end
				rx none 300ms link
				check untouched off=$end
				tx cdc flags=$([[ $i != peer && $i != both ]] || echo D,)A
				rx rst
				rx none 300ms link
				check untouched off=$end
				check offences 0
				mark answered.$i
				await next.$i
			E
		)
	done
}
