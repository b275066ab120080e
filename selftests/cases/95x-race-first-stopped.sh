# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A client's first contact has succeeded, but its handshake has not run since, when its socket is
# closed. Only that connection ends: the next one uses the link group.
#
# covers: CONN-38
# needs: latch
# timeout: 60
# tags: race hs
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/race.sh
. "$PROG/race.sh"

server() {
	local groups
	# the client does not answer the A of the connection that it has given up
	fast t_abort=800
	groups=$(counter lgr-created)
	bg "$PROG/sockcmd" limit:50 socket listen:5000:8 mark:up slot:1 accept:0 recv:1=ECONNRESET close \
		slot:2 accept:0 recv:5 send:5 recv:1=eof close
	check "server program" wait "$BG"
	eq "server: link groups" "$(($(counter lgr-created) - groups))" 1
	check "server: no connection is left" eventually 20 smc_idle
	mark counted
}

client() {
	local groups
	groups=$(counter lgr-created)
	await up
	latch llc-work
	bg "$PROG/xfer" client "$PEER" 5000 endless=1 idle=100000
	holds llc-work
	latch hs-work
	unlatch llc-work
	holds hs-work
	kill "$BG"
	wait "$BG" || :
	unlatch hs-work
	check "client program" "$PROG/sockcmd" limit:30 socket "connect:$PEER:5000" send:5 recv:5 close
	eq "client: link groups" "$(($(counter lgr-created) - groups))" 1
	await counted
}
