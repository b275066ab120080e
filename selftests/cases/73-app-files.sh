# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# socat and rsync, unmodified: what arrives is what was sent. And python, whose
# sockets are non-blocking below a timeout.
#
# covers: MISC-01 CONN-17 MISC-08
# timeout: 120
# lanes: uml qemu
# tags: app wip
# wip: has not had an accepted run in the debug lane
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"

server() {
	need socat rsync python3
	smc_reset
	bg over socat -u TCP-LISTEN:7001,reuseaddr CREATE:$APPDIR/in
	local a=$BG
	bg over socat TCP-LISTEN:7002,reuseaddr,fork EXEC:"sha256sum"
	poll 10 listening 7001
	poll 10 listening 7002
	mkdir -p $APPDIR/tree
	cp -r "$TREE/net" "$TREE/Documentation" $APPDIR/tree
	printf 'port = 8730\nuse chroot = no\npid file = %s/rsyncd.pid\n[tree]\npath = %s/tree\nread only = no\nuid = 0\ngid = 0\n' $APPDIR $APPDIR > $APPDIR/rsyncd.conf
	bg over rsync --daemon --no-detach --config=$APPDIR/rsyncd.conf
	poll 10 listening 8730
	bg over python3 -m http.server 8000 --directory $APPDIR/tree
	poll 30 listening 8000
	mark ready
	check "socat, receiver" wait "$a"
	sha256sum < $APPDIR/in > "$CASEDIR/received"
	(cd $APPDIR/tree && find . -type f -exec sha256sum {} + | sort -k2) > "$CASEDIR/tree1"
	mark summed
	await finished 110
	smc_was server 6 40
}

client() {
	need socat rsync python3
	await ready 60
	smc_reset
	head -c 5000000 /dev/urandom > $APPDIR/out
	check "socat, sender" over socat -u FILE:$APPDIR/out TCP:"$PEER":7001
	check "socat: half-close, then the answer" bash -c "'$SMCCTL' run -- socat -t 20 - TCP:$PEER:7002 < $APPDIR/out > '$CASEDIR/answer'"
	eq "the answer" "$(cut -c1-64 "$CASEDIR/answer")" "$(sha256sum < $APPDIR/out | cut -c1-64)" || :
	await summed 40
	eq "what socat received" "$(<"$CASEDIR/received")" "$(sha256sum < $APPDIR/out)" || :
	check "rsync, a tree" over rsync -a --checksum "rsync://$PEER:8730/tree/" $APPDIR/copy/ || :
	(cd $APPDIR/copy && find . -type f -exec sha256sum {} + | sort -k2) > "$CASEDIR/tree2"
	check "the trees are the same" cmp "$CASEDIR/tree1" "$CASEDIR/tree2" || :
	echo changed >> $APPDIR/copy/net/main.c
	check "rsync, back" over rsync -a --checksum $APPDIR/copy/ "rsync://$PEER:8730/tree/" || :
	check "rsync, nothing to do" test -z "$(over rsync -a --checksum -i $APPDIR/copy/ "rsync://$PEER:8730/tree/")" || :
	check "python: http.server and urllib" over python3 -c "
import urllib.request
d = urllib.request.urlopen('http://$PEER:8000/net/sock.h', timeout=20).read()
assert d == open('$TREE/net/sock.h', 'rb').read()" || :
	smc_was client 6 40
	mark finished
}
