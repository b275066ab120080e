# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A dump of very many sockets shows each that exists all the time exactly once, whatever
# others are made and closed meanwhile, and is flagged as interrupted if some were. The
# cost of a socket does not grow with the number of those shown before it.
#
# timeout: 120
# memory: 2048
# tags: diag stress nodebug
# fabric: roce -- clock: it measures what a message of a dump takes

listed() {
	local n
	for _ in 1 2 3 4 5; do
		n=$("$SMCCTL" -ja conn | jq length) && [ "$n" -gt 200 ] || return 1
	done
}

server() {
	ulimit -n 65536
	check "sockets come and go during a dump" "$PROG/nldump.py" churn 1000
	bg "$PROG/nldump.py" noise 300
	poll 20 grep -q up "$CASEDIR/server-bg1.log" || fail "no noise"
	check "smcctl is content with that" listed
	kill "$BG"
	wait "$BG" || :
	check "the last sockets cost what the first did" "$PROG/nldump.py" cost 16000
}
