# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Files and trees: socat, nc, rsync (its daemon, and over ssh), scp, and
# python's http.server, whose sockets are non-blocking below a timeout. What
# arrives is what was sent. Over SMC-R and over TCP.
#
# covers: MISC-01 CONN-17 MISC-08
# timeout: 150
# lanes: uml qemu
# tags: app
# shellcheck source=selftests/prog/apps.sh
. "$PROG/apps.sh"
BIG=$((200 << 20)) TREES=(Documentation selftests/cases)
# where every byte is looked at
[ "$KERNEL" != umdbg ] || BIG=$((8 << 20)) TREES=(Documentation)
PART=$((BIG / 20))
CONNS=$((3 + 3 + 3 + 2))	# socat and nc, rsync, ssh, http

# tree_sums DIR
tree_sums() (cd "$1" && find . -type f -exec sha256sum {} + | sort -k2)
sum() { sha256sum < "$1" | cut -c1-64; }

one_server() {
	local d=$APPDIR/$VIA p
	mkdir -p "$d"
	cp -r $APPDIR/tree "$d/tree"
	serve socat -u "TCP-LISTEN:$(via 7001),reuseaddr" "CREATE:$d/socat"
	receivers+=("$BG")
	serve socat "TCP-LISTEN:$(via 7002),reuseaddr,fork" EXEC:sha256sum
	serve sh -c "exec nc -l -p $(via 7003) > $d/nc"
	receivers+=("$BG")
	cat > "$d/rsyncd.conf" <<-X
		port = $(via 8730)
		use chroot = no
		pid file = $d/rsyncd.pid
		[tree]
		path = $d/tree
		read only = no
		uid = 0
		gid = 0
	X
	serve rsync --daemon --no-detach --config="$d/rsyncd.conf"
	serve python3 -m http.server "$(via 8000)" --directory "$d/tree"
	serve /usr/sbin/sshd -D -e -f /dev/null -p "$(via 2200)" -h $APPDIR/hostkey -o UsePAM=no -o StrictModes=no \
		-o AuthorizedKeysFile="$CASEDIR/key.pub" -o PidFile=none -o "Subsystem sftp internal-sftp"
	for p in 7001 7002 7003 8730 8000 2200; do
		poll 30 listening "$(via $p)" || fail "$VIA: nobody listens on port $p"
	done
}

# In the order in which the client sends
one_receive() {
	local d=$APPDIR/$VIA p
	for p; do try "the receiver ends" wait "$p"; done
	mark "received-$VIA" "$(sum "$d/socat") $(sum "$d/nc")"
	rm "$d/socat" "$d/nc"
}

server() {
	local receivers=() p
	need socat nc rsync python3 sshd
	mkdir -p /run/sshd $APPDIR/tree
	ssh-keygen -q -t ed25519 -N "" -f $APPDIR/hostkey
	mkdir $APPDIR/tree/net
	cp -r "$TREE/net/main.c" "$TREE/net/core" $APPDIR/tree/net
	for p in "${TREES[@]}"; do cp -r "$TREE/$p" $APPDIR/tree; done
	ln -s net/main.c $APPDIR/tree/link
	head -c $PART /dev/urandom > $APPDIR/tree/middle
	tree_sums $APPDIR/tree > "$CASEDIR/tree"
	smc_reset
	both one_server
	mark ready
	VIA=tcp one_receive "${receivers[@]:0:2}"
	VIA=smc one_receive "${receivers[@]:2}"
	await finished 110
	smc_was server $CONNS $CONNS
}

send_files() {
	try "socat, sender" over socat -u FILE:$APPDIR/out TCP:"$PEER:$(via 7001)"
	try "nc, sender" into /dev/null over nc -N "$PEER" "$(via 7003)" < $APPDIR/part
	try "socat: half-close, then the answer" into "$d/answer" over socat -t 20 - TCP:"$PEER:$(via 7002)" < $APPDIR/part
	same "the answer" "$(cut -c1-64 "$d/answer")" "$(sum $APPDIR/part)"
	await "received-$VIA" 40
	same "what socat and nc received" "$MARK" "$(sum $APPDIR/out) $(sum $APPDIR/part)"
}

rsync_tree() {
	local url
	url=rsync://$PEER:$(via 8730)/tree/
	try "rsync, a tree" over rsync -a --checksum "$url" "$d/copy/"
	try "the trees are the same" cmp "$CASEDIR/tree" <(tree_sums "$d/copy")
	echo changed >> "$d/copy/net/main.c"
	try "rsync, back" over rsync -a --checksum "$d/copy/" "$url"
	same "rsync finds nothing to do" "$(over rsync -a --checksum -i "$d/copy/" "$url" || echo failed)" ""
}

over_ssh() {
	local opts=(-F /dev/null -i "$APPDIR/key" -o BatchMode=yes -o StrictHostKeyChecking=no
		    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR) there=$APPDIR/$VIA
	same "ssh, a command with input" \
		"$(over ssh "${opts[@]}" -p "$(via 2200)" "root@$PEER" sha256sum < $APPDIR/part | cut -c1-64)" "$(sum $APPDIR/part)"
	try "scp" over scp -q "${opts[@]}" -P "$(via 2200)" "root@$PEER:$there/tree/middle" "$d/scp"
	same "what scp brought" "$(sum "$d/scp")" "$(sum "$d/copy/middle")"
	try "rsync over ssh" over rsync -a -e "ssh ${opts[*]} -p $(via 2200)" "root@$PEER:$there/tree/" "$d/copy2/"
	same "the trees are the same" "$(tree_sums "$d/copy2")" "$(tree_sums "$d/copy")"
}

from_http() {
	local url
	url=http://$PEER:$(via 8000)/middle
	try "python: http.server and curl" over curl -sS -m 60 -o "$d/curl" "$url"
	same "what curl fetched" "$(sum "$d/curl")" "$(sum "$d/copy/middle")"
	try "python: http.server and urllib" over python3 -c "
import urllib.request
d = urllib.request.urlopen('$url', timeout=20).read()
assert d == open('$d/copy/middle', 'rb').read()"
}

one_client() {
	local d=$APPDIR/$VIA
	mkdir -p "$d"
	send_files
	rsync_tree
	over_ssh
	from_http
	rm -r "$d"
}

client() {
	need socat nc rsync python3 ssh scp curl
	head -c $BIG /dev/urandom > $APPDIR/out
	head -c $PART $APPDIR/out > $APPDIR/part
	ssh-keygen -q -t ed25519 -N "" -f $APPDIR/key
	cp $APPDIR/key.pub "$CASEDIR/key.pub"
	await ready 60
	smc_reset
	both one_client
	smc_was client $CONNS $CONNS
	mark finished
}
