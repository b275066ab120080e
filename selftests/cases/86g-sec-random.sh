# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The values that protect a connection from hosts that could send to its link or write to
# its memory are not guessable: alert tokens, initial PSNs, RKeys together with the addresses
# of RMBs. Statistics over the Accepts and Confirms of thousands of connections (10,000
# tokens on um; fewer where connections are dear), and of as many groups as there were at a
# time.
#
# An adapter gives out the upper 24 bits of RKeys, as it likes, the module the
# lower 8, and 51 bits of the address that goes with them.
#
# covers: SEC-12
# timeout: 60
# lanes: uml qemu
# tags: sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
N=400
[ "$KERNEL" != um ] || N=5000
# more than are looked for: max_conns_per_lgr is soft where connections come at the same time
GROUPS_WANTED=44

server() {
	smc_reset
	bg "$PROG/stress" server 5000 conns=$N par=4
	local seq=$BG
	poll 10 listening 5000
	mark ready
	check "connections one after the other" wait "$seq"
	# each in a group of its own
	echo 1 > /proc/sys/net/smcr/max_conns_per_lgr
	bg "$PROG/stress" server 5001 conns=$GROUPS_WANTED par=$GROUPS_WANTED
	poll 10 listening 5001
	mark again
	check "connections at a time" wait "$BG"
	smc_was server $((N + GROUPS_WANTED)) $((N + GROUPS_WANTED))
}

client() {
	local gate=$CASEDIR/gate
	smc_reset
	await ready
	# Accepts and Confirms; some of them may escape
	tcpdump --immediate-mode -B 65536 -i eth0 -n -s 200 -U -w "$CASEDIR/clc.pcap" \
		"tcp portrange 5000-5001 and tcp[((tcp[12:1] & 0xf0) >> 2) + 5:2] = 68" > "$CASEDIR/clc.dump" 2>&1 &
	local dump=$!
	poll 10 grep -q 'listening on' "$CASEDIR/clc.dump" || fail "tcpdump does not start"
	check "connections one after the other" "$PROG/stress" client "$PEER" 5000 conns=$N par=4 max=8 ends=c
	await again 40
	bg "$PROG/stress" client "$PEER" 5001 conns=$GROUPS_WANTED max=8 ends=c gate="$gate"
	poll 30 all_there || fail "not all connections came about"
	: > "$gate.use"
	: > "$gate.close"
	check "connections at a time" wait "$BG"
	nap 0.3; kill -INT $dump; wait $dump || :
	smc_was client $((N + GROUPS_WANTED)) $((N + GROUPS_WANTED))
}
all_there() { [ "$(smc_clients)" -ge $((_smc_conns + N + GROUPS_WANTED)) ]; }

host() {
	local line
	tcpdump -r "$CASEDIR/clc.pcap" -n -xx 2> /dev/null | awk '/^[0-9]/ { print l; l = "" } /^\t/ { sub(/^\t0x[0-9a-f]*: */, ""); gsub(/ /, ""); l = l $0 } END { print l }' \
		> "$CASEDIR/clc.hex"
	PYTHONPATH=$TREE/selftests/lib python3 - "$CASEDIR/clc.hex" $((N * 9 / 10)) > "$CASEDIR/random.txt" <<-'P' || fail "no statistics"
		import math, sys
		from wire import clc as parse, ACCEPT, CONFIRM

		def fair(n, of):
		    """So many heads in so many throws: within 5 sigma."""
		    return abs(n - of / 2) <= 2.5 * math.sqrt(of)

		def told(ok, text):
		    print("ok" if ok else "not ok", text)

		def test(name, values, bits, distinct=True):
		    n = len(values)
		    steps = [(b - a) % (1 << bits) for a, b in zip(values, values[1:])]
		    if distinct:    # as many pairs may be equal as chance wants, and two more
		        chance = n * n / 2 / (1 << bits)
		        told(n - len(set(values)) <= chance + 4 * math.sqrt(chance) + 2, f"{name}: {n - len(set(values))} of {n} are repeated")
		        told(len(set(steps)) >= len(steps) * 0.98 - 2, f"{name}: {len(set(steps))} different steps of {len(steps)}")
		    ups = sum(a < b for a, b in zip(values, values[1:]))
		    # adjacent comparisons are not independent: variance n/12
		    told(abs(ups - len(steps) / 2) <= 5 * math.sqrt(len(steps) / 12) + 1, f"{name}: {ups} of {len(steps)} are larger than the one before")
		    ones = [sum(v >> i & 1 for v in values) for i in range(bits)]
		    told(all(fair(o, n) for o in ones), f"{name}: each bit is set in half of them ({min(ones)} to {max(ones)} of {n})")
		    flips = [sum((a ^ b) >> i & 1 for a, b in zip(values, values[1:])) for i in range(bits)]
		    told(all(fair(f, n - 1) for f in flips), f"{name}: each bit changes every other time ({min(flips)} to {max(flips)})")

		# TCP sends some of them twice: ports, sequence number and all that
		# follows are equal then
		clc = {}
		for line in open(sys.argv[1]):
		    at = max(line.find("e2d4c3d9020044"), line.find("e2d4c3d9030044"))
		    if at >= 0:
		        clc.setdefault((line[68:84], line[at:at + 136]), parse(bytes.fromhex(line[at:at + 136])))
		clc = list(clc.values())
		for side, kind in (("server", ACCEPT), ("client", CONFIRM)):
		    mine = [m for m in clc if m.type == kind]
		    links = list({m.qpn: m for m in mine}.values())
		    rmbs = list({(m.rkey, m.va): m for m in mine}.values())
		    test(f"{side}: tokens", [m.token for m in mine], 32)
		    told(len(mine) >= int(sys.argv[2]), f"{side}: {len(mine)} tokens")
		    told(len(links) >= 40, f"{side}: {len(links)} links")
		    test(f"{side}: PSNs", [m.psn for m in links], 24)
		    test(f"{side}: addresses of RMBs", [m.va >> 12 for m in rmbs], 51)
		    test(f"{side}: low bytes of RKeys", [m.rkey & 255 for m in rmbs], 8, distinct=False)
	P
	while IFS= read -r line; do
		case $line in
		ok\ *) check "${line#ok }" true ;;
		not\ ok\ *) check "${line#not ok }" false ;;
		esac
	done < "$CASEDIR/random.txt"
	check "all of it was looked at" test "$(wc -l < "$CASEDIR/random.txt")" = 40
}
