# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The TCP socket below an AF_SMC socket belongs to the owner of the AF_SMC socket: packet
# filters match its user, routing rules as well, and ss, lsof and fuser show the process.
# Listener, accepted socket and client; over TCP, over SMC-R and in fallback, with the
# same result. And connections end in all ways while a filter looks at their owners: it
# sees no file that is gone.
#
# covers: SEC-14
# timeout: 60
# tags: sec api
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

ME_UID=1234
# for a user without access to the case's folder
D=/tmp/owner

prepare() {
	mkdir -p "$D"
	chmod 777 "$D"
	cp "$SOCKCMD_BIN" "$D/sockcmd"
}
SOCKCMD_BIN=$PROG/sockcmd

# as_user NAME CALL...: sockcmd as an ordinary user, in the background; its marks are files in $D
as_user() {
	local name=$1; shift
	CASEDIR=$D bg setpriv --reuid $ME_UID --regid $ME_UID --clear-groups \
		"$D/sockcmd" limit:40 "$@"
	eval "pid_$name=$BG"
}

# rules ID MATCH: what user 1234 sends, what others send, what is sent in all
rules() {
	nft -f - <<-E || fail "nft refuses"
		add table inet own
		add chain inet own out { type filter hook output priority 0; }
		add rule inet own out $2 meta skuid $ME_UID counter comment "uid$1"
		add rule inet own out $2 meta skgid $ME_UID counter comment "gid$1"
		add rule inet own out $2 counter comment "all$1"
	E
}
packets() {
	nft -j list chain inet own out | jq "[.nftables[].rule | select(.comment? == \"$1\") |
		.expr[].counter?.packets | numbers] | add"
}

# owned DESC PID STATE FILTER: ss, lsof and fuser show this owner
owned() {
	local desc=$1 pid=$2 line port
	line=$(ss -Htenp state "$3" "$4")
	eq "$desc: user" "$(grep -o 'uid:[0-9]*' <<< "$line" || :)" "uid:$ME_UID"
	eq "$desc: process" "$(grep -o 'pid=[0-9]*' <<< "$line" || :)" "pid=$pid"
	read -r _ _ port _ <<< "$line"
	port=${port##*:}
	eq "$desc: lsof" "$(lsof -nP -iTCP:"$port" -t || :)" "$pid"
	eq "$desc: fuser" "$(fuser -n tcp "$port" 2>/dev/null | tr -d ' ' || :)" "$pid"
}

server_round() {
	local kind=$1 port=$2
	as_user server socket:"${kind%-*}" listen:"$port" slot:1 accept:0 recv:5 \
		mark:got"$port" await:ruled"$port" send:5 recv:1=eof close
	poll 10 listening "$port" || fail "nobody listens on $port"
	rules "$kind" "tcp sport $port"
	# shellcheck disable=SC2154
	owned "$kind listener" "$pid_server" listening "sport = :$port"
	mark "ready$port"
	poll 20 test -s "$D/mark.got$port" || fail "no data on $port"
	owned "$kind accepted" "$pid_server" established "sport = :$port"
	check "$kind: the user's packets" test "$(packets "uid$kind")" -gt 0
	eq "$kind: the group's" "$(packets "gid$kind")" "$(packets "uid$kind")"

	# what an accepted socket sends obeys rules about its user
	if [ "$kind" != smc ]; then
		ip rule add uidrange $ME_UID-$ME_UID blackhole prio 5
		echo go > "$D/mark.ruled$port"
		mark "sent$port"
		await "quiet$port"
		ip rule del uidrange $ME_UID-$ME_UID blackhole prio 5
	else
		echo go > "$D/mark.ruled$port"
		mark "sent$port"
	fi
	check "$kind server" wait "$pid_server"
}

client_round() {
	local kind=$1 port=$2
	rules "$kind" "tcp dport $port"
	await "ready$port"
	as_user client socket:"${kind%-*}" connect:"$PEER:$port" send:5 mark:sent"$port" \
		pollfor:IN:30000 mark:in"$port" recv:5 await:end"$port" close
	await "sent$port"
	# shellcheck disable=SC2154
	owned "$kind client" "$pid_client" established "dport = :$port"
	if [ "$kind" != smc ]; then
		nap 0.5
		check "$kind: nothing while the route is closed to the user" \
			test ! -e "$D/mark.in$port"
		mark "quiet$port"
	fi
	poll 20 test -s "$D/mark.in$port" || fail "no answer on $port"
	eq "$kind: all packets are the user's" "$(packets "uid$kind")" "$(packets "all$kind")"
	check "$kind: there were some" test "$(packets "uid$kind")" -gt 0
	echo go > "$D/mark.end$port"
	check "$kind client" wait "$pid_client"
}

server() {
	prepare
	smc_reset
	server_round tcp 5000
	server_round smc 5001
	smc_was server 1
	echo 0 > /proc/sys/net/smcr/enabled
	server_round smc-fallback 5002
	bg "$PROG/stress" server 5003 conns=100 par=4
	poll 10 listening 5003
	mark stress
	check "ends under owner rules: server" wait "$BG"
}

client() {
	prepare
	client_round tcp 5000
	client_round smc 5001
	client_round smc-fallback 5002
	ip rule add uidrange $ME_UID-$ME_UID prohibit prio 5
	as_user tcp socket:tcp connect:"$PEER":5000=EACCES
	check "TCP: no route for this user" wait "$BG"
	as_user smc socket connect:"$PEER":5000=EACCES
	check "AF_SMC: no route for this user" wait "$BG"
	rules stress "tcp dport 5003"
	await stress
	check "ends under owner rules: client" "$PROG/stress" client "$PEER" 5003 conns=100 par=4
}
