# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The work of case 96 over Debian's gloo, a library for distributed training: over
# TCP and, with "smcctl run", over SMC-R. The server is in guest 1, two workers are
# in guest 2. Both results have the same bits as that of one process without a
# network; so have two of the patterns as gloo's collectives. Every connection
# between the guests was SMC-R. Gloo also connects the workers with each other:
# inside of guest 2, on lo, where there is no RDMA device. These are TCP.
#
# timeout: 150
# lanes: uml qemu
# tags: rdma app nodebug
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
# shellcheck source=lab/prog/patterns.sh
. "$LAB/prog/patterns.sh"
# shellcheck source=lab/rdma/lab.sh
. "$RDMA/lab.sh"
GLOO=$LAB/prog/patterns_gloo
PATTERNS="ps ps-gather rendezvous allreduce batch"
WORK=(-w 2 -n 12 -b 128k)

# local_of PATTERN: the pattern whose local digest it must have
local_of() {
	case $1 in
	ps-gather) echo ps ;;
	allreduce) echo rendezvous ;;
	*) echo "$1" ;;
	esac
}

there_is_gloo() { [ -x "$GLOO" ] || skip "patterns_gloo was not built (no gloo there)"; }

# The processes find each other through the folder $out; each run has its own
one_server() {
	local p out
	smc_reset
	for p in $PATTERNS; do
		out=$CASEDIR/$p-$VIA
		mkdir "$out"
		bg into "$out-server" over "$GLOO" "${WORK[@]}" "$p" server "$ME" "$out"
		mark "up.$p.$VIA"
		try "$p: server" wait "$BG"
		same "$p: the bits" "$(digest "$out-server")" "$(digest "$CASEDIR/$(local_of "$p")-local")"
		await "done.$p.$VIA" 60
		told "$p over $VIA" "$out-worker0"
	done
}

server() {
	local p rc
	need
	there_is_gloo
	for p in ps rendezvous batch; do local_digest $p "${WORK[@]}"; done
	VIA=tcp
	one_server
	tcp_was "server, without smcctl run" 0
	VIA=smc
	one_server
	smc_was "server" 10 10
	for VIA in tcp smc; do
		mkdir "$CASEDIR/differ-$VIA"
		bg fails_into "$CASEDIR/differ-$VIA-server" over "$GLOO" -b 64k ps server "$ME" "$CASEDIR/differ-$VIA"
		mark "differ.$VIA"
		rc=0
		wait "$BG" || rc=$?
		same "the server does not go on with another size" $rc 1
	done
	eq "server: no connection was aborted" "$(smc_sum conn-aborted)" 0
}

one_client() {
	local p w out pids
	smc_reset
	for p in $PATTERNS; do
		out=$CASEDIR/$p-$VIA
		await "up.$p.$VIA" 60
		pids=()
		for w in 0 1; do
			bg into "$out-worker$w" over "$GLOO" "${WORK[@]}" -i $w "$p" worker "$ME" "$out"
			pids+=("$BG")
		done
		for w in 0 1; do
			try "$p: worker $w" wait "${pids[w]}"
			[ "$p" = batch ] ||
				same "$p: worker $w has the bits" "$(digest "$out-worker$w")" \
					"$(digest "$CASEDIR/$(local_of "$p")-local")"
		done
		mark "done.$p.$VIA"
	done
}

client() {
	need
	there_is_gloo
	VIA=tcp
	one_client
	tcp_was "client, without smcctl run" 0
	VIA=smc
	one_client
	# In each run one connection is between the workers: both of its ends are here.
	smc_was "client" 10 10 10
	eq "client: those on lo, at the end that connects" "$(smc_sum no-device)" 5
	eq "client: and at the other end" "$(smc_sum peer-no-smc)" 5
	for VIA in tcp smc; do
		await "differ.$VIA" 60
		says 1 "-b is 131072 here and 65536 on the other side" \
			over "$GLOO" -b 128k ps worker "$ME" "$CASEDIR/differ-$VIA"
	done
	eq "client: no connection was aborted" "$(smc_sum conn-aborted)" 0
	says 2 "/nowhere is not a folder" "$GLOO" ps server "$ME" /nowhere
	says 2 "(--help)" "$GLOO" ps worker "$ME"
	says 2 "there is no option -t" "$GLOO" -t ps local
	says 1 "Unable to find address for 192.0.2.1" "$GLOO" ps server 192.0.2.1 "$CASEDIR"
	check "patterns_gloo --help" grep -q '^usage: ' <("$GLOO" --help)
}
