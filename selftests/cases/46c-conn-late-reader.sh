# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Data that were written before close() are read to the last byte, as over TCP: by a
# reader that begins long after the closing side's T_CLOSE, and by a slow one, which keeps
# that side waiting instead. A connection whose reader reads nothing ends at the closing
# side only.
#
# covers: CONN-13 CONN-21
# timeout: 60
# tags: conn
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

T_CLOSE=1500
# that the other side has given up has no effect on the reader
HALF=poll:0=IN,OUT,RDHUP

# reads NAME PORT CALL...
reads() {
	local name=$1 port=$2
	shift 2
	bg "$PROG/sockcmd" limit:20 socket listen:"$port" mark:"up.$name" slot:1 accept:0 recv:5 await:"$name" "$@"
	READERS+=("$BG")
}

server() {
	local pid
	READERS=()
	echo $T_CLOSE > /proc/sys/net/smcr/t_close
	reads late 5001 sleep:3000 $HALF send:1=EPIPE recv:100000 peek:1000=1000 recv:100000 recv:1=eof $HALF recv:1=eof close
	# shellcheck disable=SC2046
	reads slow 5002 $(for _ in {1..20}; do echo recv:5000 sleep:150; done) recv:1=eof close
	reads never 5003 sleep:3000 recvsome:10=10 shut:wr close
	reads halves 5004 shut:wr sleep:3000 recv:200000 recv:1=eof close
	for pid in "${READERS[@]}"; do
		check "reader" wait "$pid" || :
	done
	check "every connection is released" eventually 10 smc_idle
	eq "T_CLOSE ran out here" "$(smc_sum timer-close)" 0
	mark through
}

# writes NAME PORT BYTES
writes() {
	await "up.$1"
	check "$1" "$PROG/sockcmd" socket connect:"$PEER":"$2" send:5 send:"$3" close mark:"$1" || :
}

client() {
	echo $T_CLOSE > /proc/sys/net/smcr/t_close
	writes late 5001 200000
	writes slow 5002 100000
	writes never 5003 200000
	writes halves 5004 200000
	await through
	check "every connection is released" eventually 10 smc_idle
	eq "T_CLOSE ran out: late, never, halves, but not slow" "$(smc_sum timer-close)" 3
	eq "fallbacks" "$(smc_fallbacks)" 0
}
