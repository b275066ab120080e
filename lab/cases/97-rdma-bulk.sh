# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bulk mover: memory and a file by RDMA WRITE, in large chunks, in odd ones
# and inline, sha256 equal at both ends; the same file through AF_SMC and TCP
# arrives with the same sha256. An error is reported in one line.
#
# timeout: 120
# lanes: uml qemu
# memory: 1536
# tags: rdma nodebug
# fabric: roce -- rxe: its programs connect by the RDMA CM, which the simulated RNIC has not got
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"
MIB=64
# arguments of the client in each run
RUNS=("size=${MIB}m" "size=1000001 chunk=65537 depth=3" "--size=5000 --chunk 500 --inline --depth 64"
	"--json --size 3000 --chunk 100 --inline 1" "size=1")

# field FILE KEY: a word or number from the JSON in FILE
field() { jq -r ".$2" < "$1"; }
sum() { sha256sum < "$1" | cut -d' ' -f1; }

# serve NAME CMD...: run a server for one transfer, and set the mark up.NAME when it listens; its output is in NAME-server
serve() {
	local name=$1; shift
	bg into "$CASEDIR/$name-server" "$@"
	poll 15 grep -qs listening "$CASEDIR/$name-server" || fail "$name: no server"
	mark "up.$name"
	check "$name: server" wait "$BG"
}

server() {
	local i
	mkdir -p /run/bulk && mount -t tmpfs -o size=$((MIB + 8))M bulk /run/bulk
	for i in "${!RUNS[@]}"; do
		serve "run$i" "$RDMA/bulk" server 7471 -j wait=60
		await "sent$i" 60
		eq "run $i: what arrived is what was sent" "$(tail -1 "$CASEDIR/run$i-server" | jq -r .sha256)" "$MARK"
	done
	smc_reset
	serve verbs "$RDMA/bulk" server 7471 --file /run/bulk/verbs wait=60
	await file 60
	local want=$MARK
	eq "the file by RDMA WRITE" "$(sum /run/bulk/verbs)" "$want"
	rm /run/bulk/verbs
	serve smc "$LAB/prog/bench" -s recv 5000 /run/bulk/smc
	eq "the file by AF_SMC" "$(sum /run/bulk/smc)" "$want"
	rm /run/bulk/smc
	serve tcp "$LAB/prog/bench" recv 5001 /run/bulk/tcp
	eq "the file by TCP" "$(sum /run/bulk/tcp)" "$want"
	smc_was "server" 1 1
}

client() {
	local i out
	for i in "${!RUNS[@]}"; do
		await "up.run$i" 60
		out=$CASEDIR/bulk$i.json
		# shellcheck disable=SC2086
		check "${RUNS[i]}" into "$out" "$RDMA/bulk" client "$PEER" 7471 ${RUNS[i]} -j wait=60
		eq "${RUNS[i]}: it says so itself" "$(field "$out" equal)" true
		mark "sent$i" "$(field "$out" sha256)"
	done
	eq "64 MiB were $MIB MiB" "$(field "$CASEDIR/bulk0.json" bytes)" $((MIB << 20))
	check "a rate" jq -e '.mib_s > 0 and .seconds > 0' "$CASEDIR/bulk0.json" > /dev/null
	says 2 "inline: a chunk of 512 bytes at most" "$RDMA/bulk" client "$PEER" 7471 --inline --chunk 4k
	says 2 'size=5q: a number' "$RDMA/bulk" client "$PEER" 7471 --size 5q
	says 1 "nobody listens on this port" "$RDMA/bulk" client "$PEER" 7999 size=1m
	says 1 'No such file' "$RDMA/bulk" client "$PEER" 7471 file=/run/none
	says 2 "--size needs a value" "$RDMA/bulk" client "$PEER" 7471 --size --json
	says 2 "there is no option 'colour'" "$RDMA/bulk" client "$PEER" 7471 --json --colour red
	says 2 "port: 99999 is not 1 to 65535" "$RDMA/bulk" server 99999 --inline
	says 1 "/nope/x: No such file" "$RDMA/bulk" server 7998 file=/nope/x
	says 1 "/dev/null: not a file" "$RDMA/bulk" server 7998 file=/dev/null
	mkdir -p /run/bulk && mount -t tmpfs -o size=$((MIB + 8))M bulk /run/bulk
	head -c ${MIB}M /dev/urandom > /run/bulk/file
	smc_reset
	await up.verbs 60
	check "a file by RDMA WRITE" "$RDMA/bulk" client "$PEER" 7471 --file /run/bulk/file wait=60
	mark file "$(sum /run/bulk/file)"
	await up.smc 60
	check "a file by AF_SMC" "$LAB/prog/bench" -s -w 1048576 send "$PEER" 5000 /run/bulk/file
	await up.tcp 60
	check "a file by TCP" "$LAB/prog/bench" -w 1048576 send "$PEER" 5001 /run/bulk/file
	smc_was "client" 1 1
}
