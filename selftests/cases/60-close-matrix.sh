# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Half-close, close and abort by client and server, with unread data in no, one or both
# directions, with an open and with a closed window: every cell ends as on TCP, no timer
# expires, nothing is left.
#
# covers: CONN-39 CONN-01 CONN-06 CONN-10 CONN-11 CONN-14 CONN-16 CONN-20 CONN-31
# timeout: 240
# lanes: uml qemu
# tags: api
# shellcheck source=selftests/cases/api/api.sh
. "$TREE/selftests/cases/api/api.sh"

# cell ACTION ACTOR PENDING WINDOW
cell() {
	local act=$1 own=$3 a=C p=S x=a y=b
	[ "$2" = client ] || a=S p=C x=b y=a
	echo "== $1 by the $2, pending: $3, window $4"
	printf '%s\n' 'S serve l' 'C connect a' 'S accept l b'
	case $4 in
	open)
		case $own in
		own|both) printf '%s\n' "$a put $x 1000" "$p inqwait $y 1000" ;;
		esac
		case $own in
		peer|both) printf '%s\n' "$p put $y 1000" "$a inqwait $x 1000" ;;
		esac ;;
	closed)
		case $own in
		none) printf '%s\n' "$a fill $x" "$p take $y {$a$x}" "$p fill $y" "$a take $x {$p$y}" ;;
		own|both) echo "$a fill $x" ;;
		esac
		case $own in
		peer|both) echo "$p fill $y" ;;
		esac ;;
	esac
	case $act in
	half)
		printf '%s\n' "$a shutdown $x wr" "$a send $x 1" "$p drain $y {$a$x}" "$p close $y" \
			"$a drain $x {$p$y}" "$a close $x" ;;
	close)
		printf '%s\n' "$a close $x" "$p drain $y {$a$x}" "$p sleep 50" "-$p send $y 1" "$p sleep 100" \
			"$p send $y 1" "$p close $y" ;;
	abort)
		printf '%s\n' "$a set $x LINGER 1,0" "$a close $x" "$p poll $y hup|err 5000" "$p drain $y {$a$x}" \
			"$p send $y 1" "$p close $y" ;;
	esac
}

matrix() {
	local act who own win
	for act in half close abort; do
		for who in client server; do
			for own in none own peer both; do
				for win in open closed; do cell $act $who $own $win; done
			done
		done
	done
}

over() {
	check "every connection is released" eventually 10 smc_idle
	eq "connections that needed a timer" "$(smc_sum timer-close timer-abort)" 0
}

server() {
	api_server
	over
}

client() {
	matrix > "$CASEDIR/matrix.api"
	api_client "$CASEDIR/matrix.api" 4
	over
}
