# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The bulk mover: memory and a file by RDMA WRITE, in large chunks, in odd ones
# and inline, sha256 equal at both ends; the same file through AF_SMC and TCP
# arrives with the same sha256. What is wrong is said in one line.
#
# timeout: 120
# lanes: uml qemu
# memory: 1536
# tags: rdma
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
MIB=64
# arguments of the client, one after the other
RUNS=("size=${MIB}m" "size=1000001 chunk=65537 depth=3" "--size=5000 --chunk 500 --inline --depth 64" "size=1")

# said FILE KEY: a word or number of the JSON in it
said() { jq -r ".$2" < "$1"; }
sum() { sha256sum < "$1" | cut -d' ' -f1; }
# into FILE CMD...: its standard output; complaints stay in the log
into() {
	local f=$1; shift
	"$@" > "$f"
}
# one_line RC TEXT CMD...: it ends so, and says this and nothing else
one_line() {
	local rc=0 want=$1 text=$2 out; shift 2
	out=$("$@" 2>&1) || rc=$?
	if [ "$rc" != "$want" ] || [ "$(wc -l <<< "$out")" != 1 ] || [[ $out != *$text* ]]; then
		echo "# exit $rc: $out"
		return 1
	fi
}

# serve NAME CMD...: a server of one transfer, up with the mark up.NAME; its output in NAME-server
serve() {
	local name=$1; shift
	bg into "$CASEDIR/$name-server" "$@"
	poll 15 grep -qs listening "$CASEDIR/$name-server" || fail "$name: no server"
	mark "up.$name"
	check "$name: server" wait "$BG" || :
}

server() {
	local i
	mkdir -p /run/bulk && mount -t tmpfs -o size=$((MIB + 8))M bulk /run/bulk
	for i in "${!RUNS[@]}"; do
		serve "run$i" "$RDMA/bulk" server 7471 -j wait=60
		await "sent$i" 60
		eq "run $i: what arrived is what was sent" "$(tail -1 "$CASEDIR/run$i-server" | jq -r .sha256)" "$MARK" || :
	done
	smc_reset
	serve verbs "$RDMA/bulk" server 7471 --file /run/bulk/verbs wait=60
	await file 60
	local want=$MARK
	eq "the file by RDMA WRITE" "$(sum /run/bulk/verbs)" "$want" || :
	rm /run/bulk/verbs
	serve smc "$PROG/bench" -s recv 5000 /run/bulk/smc
	eq "the file by AF_SMC" "$(sum /run/bulk/smc)" "$want" || :
	rm /run/bulk/smc
	serve tcp "$PROG/bench" recv 5001 /run/bulk/tcp
	eq "the file by TCP" "$(sum /run/bulk/tcp)" "$want" || :
	smc_was "server" 1 1
}

client() {
	local i out
	for i in "${!RUNS[@]}"; do
		await "up.run$i" 60
		out=$CASEDIR/bulk$i.json
		# shellcheck disable=SC2086
		check "${RUNS[i]}" into "$out" "$RDMA/bulk" client "$PEER" 7471 ${RUNS[i]} -j wait=60 || :
		eq "${RUNS[i]}: it says so itself" "$(said "$out" equal)" true || :
		mark "sent$i" "$(said "$out" sha256)"
	done
	eq "64 MiB were $MIB MiB" "$(said "$CASEDIR/bulk0.json" bytes)" $((MIB << 20)) || :
	check "a rate" jq -e '.mib_s > 0 and .seconds > 0' "$CASEDIR/bulk0.json" > /dev/null || :
	check "a chunk that is not inline" one_line 2 inline "$RDMA/bulk" client "$PEER" 7471 --inline --chunk 4k || :
	check "no size" one_line 2 size "$RDMA/bulk" client "$PEER" 7471 --size 5q || :
	check "nobody there" one_line 1 rejected "$RDMA/bulk" client "$PEER" 7999 size=1m || :
	check "no such file" one_line 1 'No such file' "$RDMA/bulk" client "$PEER" 7471 file=/run/none || :
	mkdir -p /run/bulk && mount -t tmpfs -o size=$((MIB + 8))M bulk /run/bulk
	head -c ${MIB}M /dev/urandom > /run/bulk/file
	smc_reset
	await up.verbs 60
	check "a file by RDMA WRITE" "$RDMA/bulk" client "$PEER" 7471 --file /run/bulk/file wait=60 || :
	mark file "$(sum /run/bulk/file)"
	await up.smc 60
	check "a file by AF_SMC" "$PROG/bench" -s -w 1048576 send "$PEER" 5000 /run/bulk/file || :
	await up.tcp 60
	check "a file by TCP" "$PROG/bench" -w 1048576 send "$PEER" 5001 /run/bulk/file || :
	smc_was "client" 1 1
}
