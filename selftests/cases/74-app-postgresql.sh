# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# PostgreSQL: pgbench loads its tables, runs transactions from eight clients,
# and again with a connection for each. Over SMC-R and over TCP.
#
# covers: MISC-01
# timeout: 120
# lanes: uml qemu
# tags: app wip
# wip: has had no complete run
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)
C=8 N=$((60 / SLOW))		# clients, transactions of each
# pgbench has one of its own each time, and psql one
CONNS=$((1 + 1 + C + 1 + C * N + 1))
# The server refuses to run as root.
UNROOT=(setpriv --reuid=postgres --regid=postgres --clear-groups)

one_server() {
	local d=$APPDIR/$VIA
	cp -a $APPDIR/data "$d"
	serve "${UNROOT[@]}" "$(command -v postgres)" -D "$d" -p "$(via 5432)" -h '*' -k "$d" \
		-c fsync=off -c shared_buffers=16MB
	pids+=("$BG")
	poll 30 listening "$(via 5432)" || fail "$VIA: postgres does not listen"
}

server() {
	local pids=() p
	need postgres initdb
	# The tree may be closed to other users.
	mkdir -p $APPDIR/bin
	cp "$SMCCTL" "${SMCCTL%/*}/libsmcr-preload.so" $APPDIR/bin
	SMCCTL=$APPDIR/bin/smcctl
	chown postgres $APPDIR
	cd $APPDIR || fail "no $APPDIR"
	"${UNROOT[@]}" "$(command -v initdb)" -D $APPDIR/data -A trust -N > "$CASEDIR/initdb.log"
	echo "host all all all trust" >> $APPDIR/data/pg_hba.conf
	smc_reset
	both one_server
	mark ready
	await finished 110
	smc_was server $CONNS $CONNS
	kill -INT "${pids[@]}"
	for p in "${pids[@]}"; do check "postgres ends" wait "$p" || :; done
}

# bench [OPTION]: every transaction was done.
bench() {
	local out=$CASEDIR/pgbench-$VIA${1:-}
	try "pgbench ${1:-}" into "$out" over pgbench -n -c $C -t $N ${1:+"$1"}
	same "pgbench ${1:-}: transactions" "$(sed -n 's/^number of .*transactions.*: \([^ ]*\).*/\1/p' "$out" | tr '\n' ' ')" \
		"$N $((C * N))/$((C * N)) 0 "
}

one_client() {
	PGPORT=$(via 5432)
	try "pgbench fills its tables" into "$CASEDIR/pgbench-$VIA-i" over pgbench -i -q
	bench
	bench -C
	same "what was added is in all tables" "$(over psql -Atc "
		select count(*), sum(delta) - (select sum(abalance) from pgbench_accounts),
		sum(delta) - (select sum(bbalance) from pgbench_branches) from pgbench_history")" "$((2 * C * N))|0|0"
}

client() {
	export PGHOST=$PEER PGPORT PGUSER=postgres PGDATABASE=postgres
	need pgbench psql
	await ready 60
	smc_reset
	both one_client
	smc_was client $CONNS $CONNS
	mark finished
}
