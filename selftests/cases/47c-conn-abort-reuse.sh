# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Elements of connections that both sides have aborted, or closed, are usable at
# once: a group with two of them carries one after the other.
#
# covers: CONN-12 CONN-25 RMB-22
# timeout: 60
# tags: conn rmb
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=30

knobs() {
	echo 60000 > /proc/sys/net/smcr/t_abort
	echo 1 > /proc/sys/net/smcr/max_rmbs_per_lgr
	echo 524288 > /proc/sys/net/smcr/rmem
}

over() {
	check "every connection is released" eventually 10 smc_idle
	eq "T_ABORT ran out" "$(smc_sum timer-abort)" 0 || :
	eq "connections that found no element" "$(smc_sum rmb-limit)" 0 || :
	smc_was "aborted or closed" $N $N
}

server() {
	knobs
	smc_reset
	# shellcheck disable=SC2046
	bg "$PROG/sockcmd" limit:20 socket listen:5000 mark:up slot:1 \
		$(for i in $(seq $N); do case $((i % 3)) in
			0) echo accept:0 recv:5 send:5 recv:1=ECONNRESET close ;;
			1) echo accept:0 recv:5 send:5 linger:0 close ;;
			2) echo accept:0 recv:5 send:5 recv:1=eof close ;;
		esac; done)
	check "server" wait "$BG" || :
	over
}

client() {
	knobs
	smc_reset
	await up
	# shellcheck disable=SC2046
	check "client" "$PROG/sockcmd" limit:20 slot:1 \
		$(for i in $(seq $N); do case $((i % 3)) in
			0) echo socket connect:"$PEER":5000 send:5 recv:5 linger:0 close sleep:60 ;;
			1) echo socket connect:"$PEER":5000 send:5 'recv:5=5|ECONNRESET' recv:1=any close sleep:60 ;;
			2) echo socket connect:"$PEER":5000 send:5 recv:5 close sleep:60 ;;
		esac; done) || :
	over
}
