# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# nginx with sendfile, two worker processes; curl and ab, with keep-alive and
# without. Over SMC-R and over TCP.
#
# covers: MISC-01 MISC-08 CONN-06 CONN-17
# timeout: 120
# lanes: uml qemu
# tags: app stress
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
N=$((300 / DEAR / DEAR)) C=8
# curl: three files, IPv6, many over one, the status; ab: two files, for each
# request and for each client. ab begins up to C - 1 connections more than it
# has requests for, and closes them without data: the longer connect() takes,
# the more of them.
CONNS=$((3 + 1 + 1 + 1 + 2 * (N + C)))
MAX=$((CONNS + 2 * (C - 1)))

one_server() {
	local d=$APPDIR/$VIA
	mkdir -p "$d"
	cat > "$d/conf" <<-X
		worker_processes 2;
		user root;
		daemon off;
		pid $d/pid;
		error_log $d/error.log;
		events { worker_connections 512; }
		http {
			access_log off;
			sendfile on;
			tcp_nopush on;
			client_body_temp_path $d/t1; proxy_temp_path $d/t2; fastcgi_temp_path $d/t3;
			uwsgi_temp_path $d/t4; scgi_temp_path $d/t5;
			server {
				listen $(via 8080) reuseport; listen [::]:$(via 8080);
				root $APPDIR/www;
				location = /status { stub_status; }
			}
		}
	X
	serve nginx -c "$d/conf" -p "$d" -e "$d/error.log"
	pids+=("$BG")
	poll 20 listening "$(via 8080)" || fail "nginx does not listen: $(cat "$d/error.log")"
}

one_end() {
	passes "$VIA: nothing in nginx' error log" test ! -s $APPDIR/$VIA/error.log || cat $APPDIR/$VIA/error.log
}

server() {
	local pids=() p
	need nginx
	mkdir -p $APPDIR/www
	head -c 100 /dev/urandom > $APPDIR/www/small
	head -c 200000 /dev/urandom > $APPDIR/www/middle
	head -c $((60000000 / DEAR / DEAR)) /dev/urandom > $APPDIR/www/large
	(cd $APPDIR/www && sha256sum small middle large) > "$CASEDIR/sums"
	smc_reset
	both one_server
	mark ready
	await finished 110
	smc_was server $CONNS $MAX
	kill -QUIT "${pids[@]}"		# lets its workers finish first
	for p in "${pids[@]}"; do check "nginx ends" wait "$p"; done
	both one_end
}

intact() (cd "$1" && sha256sum --quiet -c "$CASEDIR/sums")

# one_ab FILE [OPTION]
one_ab() {
	local out=$CASEDIR/ab-$VIA-$1${2:-}
	try "ab ${2:-} $1" into "$out" over ab ${2:+"$2"} -q -n $N -c $C "http://$PEER:$(via 8080)/$1"
	same "ab ${2:-} $1: complete and failed requests" \
		"$(awk '/^(Complete|Failed|Non-2xx)/ { printf "%s ", $NF }' "$out")" "$N 0 "
}

one_client() {
	local f n url d=$APPDIR/$VIA
	url=http://$PEER:$(via 8080)
	mkdir -p "$d"
	for f in small middle large; do
		try "curl $f" over curl -sS -m 60 -o "$d/$f" "$url/$f"
	done
	try "the files are the same" intact "$d"
	try "curl over IPv6" over curl -sS -m 20 -o "$d/small" "http://[$PEER6]:$(via 8080)/small"
	try "curl, 20 files over one connection" over curl -sS -m 60 -o "$d/middle.#1" "$url/middle?[1-20]"
	same "they are the same" "$(cat "$d"/middle.* | sha256sum)" "$(for f in {1..20}; do cat "$d/middle"; done | sha256sum)"
	for f in small middle; do
		one_ab $f
		one_ab $f -k
	done
	n=$(over curl -sS -m 20 "$url/status" | awk 'NR == 3 { print $1 }')
	try "connections, says nginx ($n, wanted $CONNS to $MAX)" test "$n" -ge $CONNS -a "$n" -le $MAX
}

client() {
	need curl ab
	await ready
	smc_reset
	both one_client
	smc_was client $CONNS $MAX
	mark finished
}
