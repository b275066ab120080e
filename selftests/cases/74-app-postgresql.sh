# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# PostgreSQL: pgbench loads its tables, runs transactions from eight clients,
# and again with a connection for each. Over SMC-R and over TCP.
#
# covers: MISC-01
# timeout: 120
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)
# Clients, transactions of each, and of each with connections of their own: the
# server forks for each of them, which takes 0.1 s and more, also over TCP.
C=8 N=$((60 / DEAR / DEAR)) M=$((6 / DEAR))
# pgbench has one of its own each time, and psql one
CONNS=$((1 + 1 + C + 1 + C * M + 1))
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
	for p in "${pids[@]}"; do check "postgres ends" wait "$p"; done
}

# bench N [OPTION]: every transaction was done.
bench() {
	local n=$1 opt=${2:-} out=$CASEDIR/pgbench-$VIA${2:-}
	try "pgbench $opt" into "$out" over pgbench -n -c $C -t "$n" ${opt:+"$opt"}
	same "pgbench $opt: transactions" "$(sed -n 's/^number of .*transactions.*: \([^ ]*\).*/\1/p' "$out" | tr '\n' ' ')" \
		"$n $((C * n))/$((C * n)) 0 "
}

one_client() {
	PGPORT=$(via 5432)
	try "pgbench fills its tables" into "$CASEDIR/pgbench-$VIA-i" over pgbench -i -q
	bench $N
	bench $M -C
	same "what was added is in all tables" "$(over psql -Atc "
		select count(*), sum(delta) - (select sum(abalance) from pgbench_accounts),
		sum(delta) - (select sum(bbalance) from pgbench_branches) from pgbench_history")" "$((C * (N + M)))|0|0"
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
