# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Keepalive of one connection goes two ways: TEST LINK on the link as often as the
# application asks for, TCP's probes not more often than net.smcr.keepalive_floor allows.
# getsockopt() of TCP_KEEPIDLE returns what was set, with a floor or without. A link that
# does not carry TEST LINK fails: ETIMEDOUT.
#
# covers: CONN-33 KA-04 KA-05 KA-07 KA-08
# timeout: 60
# lanes: uml qemu
# tags: llc keepalive
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# counted_ PORT: packets of TCP that left for this port since the last call
counted_() {
	nft -j reset counter ip kacount "p$1" | jq '.nftables[].counter.packets // empty'
}

server() {
	fast t_testlink=0 qp_timeout=13
	app_bg limit:60 socket listen:5010 mark:up slot:1 accept:0 recv:10 send:10 "recv:1=eof" close \
		slot:2 accept:0 recv:10 send:10 "recv:1=ECONNRESET" close
	app_end "server program"
}

client() {
	local n s t0
	fast t_testlink=0 qp_timeout=13 keepalive_floor=60000
	await up
	smc_reset
	nft add table ip kacount
	nft add counter ip kacount p5010
	nft add chain ip kacount out "{ type filter hook output priority 0 ; }"
	nft add rule ip kacount out tcp dport 5010 counter name p5010

	app_bg limit:60 socket keepalive:1:1:3 keepidle=1 "connect:$PEER:5010" send:10 recv:10 keepidle=1 mark:idle \
		await:second keepalive:2:1:3 keepidle=2 mark:set await:closed close
	await idle
	smc_was "with a floor" 1 1
	n=$(counted_ 5010) t0=$(counter test-link-tx)
	nap 3.7
	n=$(counted_ 5010) s=$(($(counter test-link-tx) - t0))
	eq "floor: probes of TCP" "$n" 0
	check "floor: TEST LINK every second ($s)" test "$s" -ge 2 -a "$s" -le $((5 * SLOW))
	mark second
	await set
	n=$(counted_ 5010)
	nap 2.2
	n=$(counted_ 5010)
	eq "floor, set again: probes of TCP" "$n" 0
	mark closed
	app_end "with a floor"

	fast keepalive_floor=0
	smc_reset
	app_bg limit:60 socket keepalive:1:1:3 "connect:$PEER:5010" send:10 recv:10 mark:idle2 recv:1=ETIMEDOUT soerror close
	await idle2
	smc_was "without" 1 1
	n=$(counted_ 5010)
	nap 3.7
	n=$(counted_ 5010)
	check "without: probes of TCP ($n)" test "$n" -ge 2 -a "$n" -le $((5 * SLOW))
	rdma_cut
	app_end "the link is lost"
	check "the reason" test "$(counter keepalive)" -ge 1
	rdma_mend
	nft delete table ip kacount
}
