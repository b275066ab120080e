# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Elements and send buffers of different sizes on both sides, all chunk sizes, both
# directions at once. Before anything is read a connection takes as much as the peer's
# element and the send buffer hold, also if only the send buffer has a requested size.
#
# covers: CDC-49 CDC-50 RMB-08 MISC-04 CDC-18
# timeout: 150
# lanes: uml qemu
# tags: data
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=$((6000 / DEAR))k
# server's and client's receive buffer, send buffers, chunk sizes of both
RUNS="
16k 512k 64k 64k 65536 65536
512k 16k 64k 64k 65536 65536
16k 16k 16k 16k 1:40000 1:40000
16k 2m 512k 16k 100000 3000
2m 16k 16k 512k 3000 100000
128k 32k 32k 128k 1:300000 1:300000
"

server() {
	local i=0 r c sb cb sch cch
	smc_reset
	while read -r r c sb cb sch cch; do
		[ -n "$r" ] || continue
		i=$((i + 1))
		bg "$PROG/xfer" server $((5000 + i)) rcvbuf="$r" sndbuf="$sb" wchunk="$sch" rchunk="$cch" send="$N" recv="$N" seed=$i
		local p=$BG
		poll 10 listening $((5000 + i))
		mark "up$i"
		check "server $r $c $sb $cb $sch $cch" wait "$p"
	done <<< "$RUNS"
	smc_was server 6 6
	bg "$PROG/sockcmd" limit:60 socket rcvbuf:16384 listen:5100 slot:1 accept:0 await:filled slot:2 accept:0 await:filled
	poll 10 listening 5100
	mark fill
	await filled
	wait "$BG" || fail "server: nothing is read"
}

# fits SNDBUF: how many bytes a connection takes. Those that have been written to the peer make room
fits() {
	local text
	text=$("$PROG/sockcmd" socket "sndbuf:$1" "connect:$PEER:5100" nonblock fill=any sleep:500 fill=any) || fail "fill: $text"
	echo $(($(sed -n 's/^fill: /+/p' <<< "$text")))
}

client() {
	local i=0 r c sb cb sch cch
	smc_reset
	while read -r r c sb cb sch cch; do
		[ -n "$r" ] || continue
		i=$((i + 1))
		await "up$i" 60
		check "client $r $c $sb $cb $sch $cch" "$PROG/xfer" client "$PEER" $((5000 + i)) rcvbuf="$c" sndbuf="$cb" \
			wchunk="$cch" rchunk="$sch" send="$N" recv="$N" seed=$((i + 50))
	done <<< "$RUNS"
	smc_was client 6 6
	await fill
	eq "send buffer of 16 KiB, element of 16 KiB" "$(fits 16384)" 32768
	eq "send buffer of 128 KiB, element of 16 KiB" "$(fits 131072)" 147456
	mark filled
	smc_was "send buffers" 8 8
}
