# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# IPsec on demand: the policy is there, its keys are negotiated when the first
# packet wants them, as IKE daemons do it. The connection waits for them, either
# by its SYN being sent again, or by it being queued in the kernel (sysctl
# xfrm_larval_drop 0); it then runs in ESP, not over SMC-R, although a group with
# the peer exists.
#
# covers: SEC-05
# timeout: 60
# lanes: uml qemu
# fabric: roce -- packets: it looks for RoCE packets
# tags: fallback sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
KEY=0x$(printf '%064d' 7)
ICV=0x$(printf '%064d' 9)

# sa SRC DST SPI
sa() {
	ip xfrm state add src "$1" dst "$2" proto esp spi "$3" mode transport reqid 1 \
		enc 'cbc(aes)' "$KEY" auth-trunc 'hmac(sha256)' "$ICV" 128
}
n_of() { tcpdump -r "$CASEDIR/$1.pcap" -n "$2" 2> /dev/null | wc -l; }

server() {
	modprobe esp4 || skip "no ESP"
	smc_serve before 5000; smc_was before 1 1
	sa "$ME" "$PEER" 0x101; sa "$PEER" "$ME" 0x102
	mark keys
	smc_serve dropped 5001; tcp_was dropped 1
	smc_serve queued 5002; tcp_was queued 1
}

# demand NAME PORT: the keys come while it connects
demand() {
	local dump
	await "up.$1" 40
	ip xfrm state flush
	smc_reset
	tcpdump --immediate-mode -i eth0 -n -s 0 -U -w "$CASEDIR/$1.pcap" > "$CASEDIR/$1.dump" 2>&1 &
	dump=$!
	poll 10 grep -q 'listening on' "$CASEDIR/$1.dump" || fail "tcpdump does not start"
	bg "$PROG/xfer" client "$PEER" "$2" send=30k recv=50k
	nap 0.5
	eq "$1: nothing is sent without keys" "$(n_of "$1" "tcp or esp")" 0
	sa "$ME" "$PEER" 0x102; sa "$PEER" "$ME" 0x101
	check "$1: client" wait "$BG"
	nap 0.3; kill -INT $dump; wait $dump || :
	tcp_was "$1" 1
	check "$1: what it sends is in ESP" test "$(n_of "$1" "esp and src host $ME")" -gt 3
	eq "$1: nothing of its TCP in the clear" "$(n_of "$1" "tcp and src host $ME")" 0
	eq "$1: no data by RDMA" "$(n_of "$1" "udp port 4791 and greater 200")" 0
}

client() {
	local p
	modprobe esp4 || skip "no ESP"
	await up.before 40
	smc_reset
	check "before: client" "$PROG/xfer" client "$PEER" 5000 send=30k recv=50k
	smc_was before 1 1
	await keys
	for p in 5001 5002; do
		ip xfrm policy add dir out src "$ME" dst "$PEER" proto tcp dport $p \
			tmpl src "$ME" dst "$PEER" proto esp reqid 1 mode transport level required
	done
	# a program that would negotiate keys
	bg ip xfrm monitor acquire
	hears() { awk '$2 == 6 && $4 != "00000000" { n++ } END { exit !n }' /proc/net/netlink; }
	poll 10 hears || fail "nobody would negotiate"
	echo 1 > /proc/sys/net/core/xfrm_larval_drop
	demand dropped 5001
	echo 0 > /proc/sys/net/core/xfrm_larval_drop
	demand queued 5002
}
