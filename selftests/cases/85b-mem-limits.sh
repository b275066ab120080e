# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RMBs and other buffers are bounded in bytes, for a namespace and for the host:
# connections beyond that are declined for this reason and run over TCP, existing ones go
# on, and when the limit is raised there is SMC-R again. Root in a further namespace can
# lower the limits that all share, not raise them. smcctl shows what is in use, of the
# namespace and, in the initial one, of all.
#
# covers: RMB-11 SEC-13
# timeout: 60
# fabric: roce -- kernel: it sets a limit that only the first namespace has
# tags: lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=12
KNOBS=/proc/sys/net/smcr

# sys NAME [CMD...]: a number of smcctl show, where CMD runs it
sys() { "${@:2}" "$SMCCTL" -j show | jq --arg n "$1" '[.. | objects | .[$n]? // empty][0]'; }

# limited KNOB MARK: the first element is 256 KiB, more than two do not fit
limited() {
	local i calls=() knob=$1 old mem most
	local -A show=([max_mem]=mem [max_mem_host]=mem-host)
	old=$(<$KNOBS/$knob)
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" accept:0 recv:5 send:5); done
	calls+=("mark:full$2" "await:more$2" slot:20 accept:0 recv:5 send:5)
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" send:50000 recv:50000 recv:1=eof close); done
	calls+=(slot:20 recv:1=eof close)
	smc_reset
	most=$(sys "${show[$knob]}")	# existing buffers are not taken away
	[ "$most" -gt $((600 * 1024)) ] || most=$((600 * 1024))
	echo 600 > "$KNOBS/$knob"
	refused=$(smc_sum memory-refused) why=$(smc_sum mem-limit)
	bg "$PROG/sockcmd" limit:50 slot:0 socket "listen:$3:64" "mark:up$2" "${calls[@]}"
	await "full$2" 40
	mem=$(sys "${show[$knob]}")
	eq "$knob: smcctl shows the limit" "$(sys "${show[$knob]}-max")" $((600 * 1024)) || :
	# a send buffer of 16 KiB is given to each connection all the same
	check "$knob: and $mem bytes in use" test "$mem" -ge $((512 * 1024)) -a "$mem" -le $((most + (N + 1) * 16384)) || :
	eq "$knob: all of it is this namespace's" "$(sys mem-host)" "$(sys mem)" || :
	echo "$knob: refused $(($(smc_sum memory-refused) - refused)) times, fallbacks $(($(smc_fallbacks) - _smc_falls))"
	check "$knob: some were refused" test "$(($(smc_sum memory-refused) - refused))" -gt 0 || :
	check "$knob: the first ones use SMC-R" test $(($(smc_servers) - _smc_conns)) -ge 2 || :
	check "$knob: the others are TCP" test $(($(smc_fallbacks) - _smc_falls)) -ge 4 || :
	eq "$knob: for this reason" "$(($(smc_sum mem-limit) - why))" $(($(smc_fallbacks) - _smc_falls)) || :
	smc_reset
	echo "$old" > "$KNOBS/$knob"
	mark "more$2"
	check "$knob: server" wait "$BG" || :
	smc_was "$knob: SMC-R again" 1 1
	check "$knob: every connection is released" eventually 20 smc_idle || :
}

server() {
	local k
	limited max_mem 1 5001
	limited max_mem_host 2 5002
	ip netns add limits
	eq "a namespace of its own uses nothing" "$(sys mem ip netns exec limits)" 0 || :
	eq "and does not see what others use" "$(sys mem-host ip netns exec limits)" null || :
	for k in max_lgrs max_handshakes max_first_contacts max_mem; do
		check "a namespace may lower $k" ip netns exec limits bash -c "echo 100 > $KNOBS/$k" || :
		check "and not raise it" ip netns exec limits bash -c "! echo $((4 * $(<$KNOBS/$k))) > $KNOBS/$k" 2> /dev/null || :
		check "here it can be raised" bash -c "echo $((2 * $(<$KNOBS/$k))) > $KNOBS/$k" || :
	done
	check "the host's limit is not for it to see" ip netns exec limits test ! -e $KNOBS/max_mem_host || :
	ip netns del limits
}

client() {
	local i n calls
	for n in 1 2; do
		calls=()
		for ((i = 1; i <= N; i++)); do calls+=("slot:$i" socket "connect:$PEER:500$n" send:5 recv:5); done
		calls+=("await:more$n" slot:20 socket "connect:$PEER:500$n" send:5 recv:5)
		for ((i = 1; i <= N; i++)); do calls+=("slot:$i" recv:50000 send:50000 close); done
		calls+=(slot:20 close)
		await "up$n" 40
		check "client $n" "$PROG/sockcmd" limit:50 "${calls[@]}" || :
	done
}
