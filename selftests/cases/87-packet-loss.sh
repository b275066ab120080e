# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A fabric that loses packets (soft RoCE needs no lossless one, retries cope): of
# the RoCE packets that arrive, 0.1 % and 1 % are dropped on both hosts, then
# one of ten, in so short a transfer that sometimes none is lost: streams are
# correct in both directions, at once, by small and by large writes; no link
# fails, and no connection is lost or falls back.
#
# covers: MISC-09
# timeout: 90
# lanes: uml qemu
# fabric: roce -- packets: it loses packets
# tags: chaos loss
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
BULK=6m
[ "$KERNEL" = um ] || BULK=1500k

# lossy N: N of 1000 packets, from now on. They are dropped behind the UDP header: for
# RoCE they are lost on the way.
lossy() {
	nft "add table inet loss; flush table inet loss
		add chain inet loss c { type filter hook input priority 0; policy accept; }
		add rule inet loss c udp dport 4791 numgen random mod 1000 < $1 counter drop" || fail "nft cannot drop"
}
lost() { nft list table inet loss | sed -n 's/.*counter packets \([0-9]*\) .*/\1/p'; }

# xfers: as server, as client
xfers() {
	local n=$1; shift
	"$@" "$((n + 1))" send=$BULK recv=$BULK
	"$@" "$((n + 2))" send=60k recv=60k wchunk=1:3000 rchunk=1:5000
	"$@" "$((n + 3))" send=8k recv=8k conns=6 wchunk=4000
}
srv() {
	bg "$PROG/xfer" server "$@"
	local pid=$BG
	poll 10 listening "$1"
	mark "up.$1"
	check "server $*" wait "$pid"
}
clt() {
	await "up.$1" 60
	check "client $*" "$PROG/xfer" client "$PEER" "$@"
}

all() {
	local p n=0
	smc_reset
	for p in 1 10 100; do
		barrier "lossy-$p" 60
		lossy $p
		barrier "lost-$p" 60
		if [ $p = 100 ]; then
			"$1" 5300 send=60k recv=60k
		else
			xfers $((5000 + 10 * p)) "$1"
		fi
		echo "$p of 1000: $(lost) lost"
		n=$((n + $(lost)))
	done
	# Ten of 1000 lose seven packets or more on the average, 100 of 1000 one or two:
	# that none is lost does not happen.
	check "packets were lost ($n)" test "$n" -gt 0
	smc_was "all of them" 17 17
	eq "links that failed" "$(counter link-down)" 0
	eq "first contacts" "$(smc_sum client-first-contacts server-first-contacts)" 1
	barrier end 60
}

server() { all srv; }
client() { all clt; }
