# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Three hundred threads hang in recv(), in a page fault that is never answered, while the
# peer aborts half of their connections: other connections of the same group go on and
# end, new ones are made and closed in both directions, and a link group without
# connections ends by itself. The threads' own group ends when it is deleted, with the
# other half. When the threads are killed everything is released.
#
# covers: LG-39
# timeout: 100
# lanes: qemu
# tags: lifecycle stock
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=300
SOCKCMD=$PROG/sockcmd

# The peer of the host with the threads
server() {
	local i open=() abort=() lost=()
	for ((i = 1; i <= N; i++)); do open+=("slot:$i" accept:0 send:100); done
	for ((i = 1; i <= N / 2; i++)); do abort+=("slot:$i" linger:0 close); done
	for ((; i <= N; i++)); do lost+=("slot:$i" recv:1=ECONNRESET close); done
	smc_reset
	bg "$SOCKCMD" limit:100 socket listen:5000:512 mark:up "${open[@]}" mark:sent \
		await:abort "${abort[@]}" mark:aborted "${lost[@]}"
	local peer=$BG
	bg "$SOCKCMD" limit:100 socket listen:5001 slot:1 accept:0 recv:5 send:5 recv:5 send:5 recv:1=eof close \
		accept:0 recv:5 send:5 recv:1=eof close
	local good=$BG
	poll 10 listening 5000
	poll 10 listening 5001
	mark ready
	await backwards 90
	check "incoming connection" "$SOCKCMD" start socket "connect:$PEER:5002" send:5 recv:5 elapsed:0:4000 recv:1=eof close
	mark back
	check "peer of the hanging threads" wait "$peer"
	check "peer of the others" wait "$good"
	smc_was "peer" $((N + 3)) $((N + 3))
	await killed 60
	check "every connection is released" eventually 30 smc_idle
}

# freed COUNTER N: are so many connections or groups freed?
freed() { [ "$(smc_sum "$1")" -ge "$2" ]; }
groups() { "$SMCCTL" -j linkgroup | jq "[.. | objects | .\"lgr-id\"? // empty] | unique | $1"; }
no_group() { [ "$(groups length)" = 0 ]; }

client() {
	local hang good
	fast t_lgr_idle=500
	await ready
	smc_reset
	bg "$PROG/stuck" "$PEER" 5000 $N
	hang=$BG
	stuck() { grep -q "^stuck $N" "$CASEDIR/client-bg1.log"; }
	poll 60 stuck || fail "the threads do not hang"
	bg "$SOCKCMD" limit:60 socket "connect:$PEER:5001" send:5 recv:5 mark:good \
		await:later start send:5 recv:5 elapsed:0:4000 close mark:over
	good=$BG
	await good
	mark abort
	await aborted
	mark later
	await over
	check "another connection goes on" wait "$good"
	check "and is released" eventually 5 freed conn-freed 1

	bg "$SOCKCMD" limit:60 socket listen:5002 slot:1 accept:0 recv:5 send:5 close
	poll 10 listening 5002
	mark backwards
	await back
	check "incoming connection" wait "$BG"
	check "its group ends when it is idle" eventually 10 freed lgr-freed 1

	eq "the group of the threads is left" "$(groups length)" 1
	check "it is deleted" "$SMCCTL" linkgroup delete "$(groups '.[0]')"
	check "and goes" eventually 10 no_group
	check "outgoing connection" "$SOCKCMD" start socket "connect:$PEER:5001" send:5 recv:5 elapsed:0:4000 close
	smc_was "host of the threads" $((N + 3)) $((N + 3))

	check "none of the threads came back" test "$(wc -l < "$CASEDIR/client-bg1.log")" = 1
	eq "their connections" "$(smc_sum conn-created)" $(($(smc_sum conn-freed) + N))
	kill "$hang"
	check "every connection is released" eventually 30 smc_idle
	mark killed
}
