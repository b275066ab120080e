# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A session over SMC-R and one of plain verbs are captured, and
# lab/lab-explain finds everything in order: every frame dissected, no
# RoCEv1, the handshakes, queue pairs, memory, PSNs, CDC behind their WRITEs;
# the marker is in RDMA payload and nowhere on TCP.
#
# covers: CDC-04 CDC-18
# timeout: 90
# lanes: uml qemu
# tags: rdma
# fabric: roce -- packets: it reads RoCE packets
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/wire.sh
. "$PROG/wire.sh"
# shellcheck source=lab/prog/session.sh
. "$LAB/prog/session.sh"

SIZES=(64 65536 1048576)

server() {
	await capture
	smc_reset
	check "server of the session" session_server "${SIZES[@]}"
	smc_was server 3 3
	bg ping_server "$ME"
	mark ping
	check "server of the pings" wait "$BG"
}

client() {
	# no filter for ports: it would hide packets in the wrong place
	wire_start 'not arp and not icmp6'
	smc_reset
	mark capture
	check "client of the session" session_client "$PEER" "${SIZES[@]}"
	smc_was client 3 3
	await ping
	check "client of the pings" ping_client "$PEER"
	check "every connection is released" eventually 10 smc_idle
	nap 0.5
	wire_stop
}

host() {
	local name verdict
	local rc=0
	"$TREE/lab/lab-explain" --json --checks --stats --marker "$MARKER_HEX" "$CASEDIR/wire.pcap" > "$CASEDIR/explain.json" || rc=$?
	eq "lab-explain: exit" "$rc" 0
	while read -r name verdict; do
		# a check that was not applicable has shown nothing
		case $name in failover-*) eq "$name, with one link" "$verdict" n/a ;; *) eq "$name" "$verdict" ok ;; esac
	done < <(jq -r '.checks[] | "\(.name) \(.verdict)"' "$CASEDIR/explain.json")
	check "all checks were made" jq -e '.complete and (.checks | length) == 19' "$CASEDIR/explain.json"
	check "all planes were seen" jq -e '[.stats.planes[] | select(.packets > 0) | .plane] | contains(["TCP", "CM", "LLC", "CDC",
		"WRITE", "READ", "SEND", "ACK"])' "$CASEDIR/explain.json"
}
