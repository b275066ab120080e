# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# nginx with sendfile, two worker processes; curl and ab, with keep-alive and
# without.
#
# covers: MISC-01 MISC-08 CONN-06 CONN-17
# timeout: 150
# lanes: uml qemu
# tags: app wip
# wip: no verdict in over six minutes in the debug lane
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"

server() {
	need nginx
	mkdir -p $APPDIR/www $APPDIR/logs
	head -c 100 /dev/urandom > $APPDIR/www/small
	head -c 200000 /dev/urandom > $APPDIR/www/middle
	head -c 20000000 /dev/urandom > $APPDIR/www/large
	(cd $APPDIR/www && sha256sum small middle large) > "$CASEDIR/sums"
	cat > $APPDIR/nginx.conf <<-E
		worker_processes 2;
		user root;
		daemon off;
		pid $APPDIR/pid;
		error_log $APPDIR/logs/error.log;
		events { worker_connections 512; }
		http {
			access_log off;
			sendfile on;
			tcp_nopush on;
			client_body_temp_path $APPDIR/t1; proxy_temp_path $APPDIR/t2; fastcgi_temp_path $APPDIR/t3;
			uwsgi_temp_path $APPDIR/t4; scgi_temp_path $APPDIR/t5;
			server { listen 8080 reuseport; listen [::]:8080; root $APPDIR/www; }
		}
	E
	smc_reset
	bg over nginx -c $APPDIR/nginx.conf -p $APPDIR -e $APPDIR/logs/error.log
	poll 20 listening 8080 || fail "nginx: $(cat "$CASEDIR"/server-bg1.log $APPDIR/logs/error.log)"
	mark ready
	await finished 140
	smc_was server 50 100000
	kill -QUIT "$BG"
	check "nginx ends" wait "$BG"
	# ab resets connections now and then
	! grep -vE 'Connection reset|timed out' $APPDIR/logs/error.log | grep -q . || { cat $APPDIR/logs/error.log; check "nothing in the error log" false; }
}

client() {
	local f n=$((400 / SLOW))
	need curl ab
	await ready
	smc_reset
	for f in small middle large; do
		check "curl $f" over curl -sS -m 60 -o $APPDIR/$f "http://$PEER:8080/$f" || :
	done
	check "curl over IPv6" over curl -sS -m 20 -o $APPDIR/small "http://[$PEER6]:8080/small" || :
	check "the files are the same" bash -c "cd $APPDIR && sha256sum --quiet -c '$CASEDIR/sums'" || :
	check "curl, 20 files over one connection" over curl -sS -m 60 -o /dev/null "http://$PEER:8080/middle?[1-20]" || :
	for f in small middle; do
		check "ab $f, closing" over ab -q -n $n -c 8 "http://$PEER:8080/$f" > "$CASEDIR/ab-$f" || :
		eq "ab $f: failed requests" "$(awk '/^Failed requests/ { print $3 }' "$CASEDIR/ab-$f")" 0 || :
		check "ab $f, keep-alive" over ab -q -k -n $n -c 8 "http://$PEER:8080/$f" > "$CASEDIR/abk-$f" || :
		eq "ab -k $f: failed requests" "$(awk '/^Failed requests/ { print $3 }' "$CASEDIR/abk-$f")" 0 || :
	done
	smc_was client $((2 * n)) 100000
	mark finished
}
