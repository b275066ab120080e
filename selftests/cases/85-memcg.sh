# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The sockets that a listener's worker makes are charged to the memory cgroup of
# the program that listens.
#
# covers: SEC-14
# timeout: 60
# lanes: uml qemu
# tags: lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

N=200
CG=/sys/fs/cgroup/smcr

slab() { awk '$1 == "slab" { print $2 }' $CG/memory.stat; }
object() { awk -v name="$1" '$1 == name { print $4 }' /proc/slabinfo; }

server() {
	local i calls=() before after each
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control || skip "no memory controller"
	mkdir $CG
	each=$(object SMC)
	check "size of a socket" test "${each:-0}" -gt 500
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" accept:0 recv:5); done
	smc_reset
	in_group() {
		echo $BASHPID > $CG/cgroup.procs
		exec "$@"
	}
	bg in_group "$PROG/sockcmd" limit:60 socket listen:5000:512 mark:up await:go "${calls[@]}" mark:open await:over
	await up
	before=$(slab)
	mark go
	await open 40
	# what accept() makes itself (file, dentry, inode) is another KiB and more
	charged() { after=$(slab); [ $((after - before)) -gt $((N * (each + 1024))) ]; }
	check "they are charged" eventually 5 charged
	echo "slab of $N connections: $((after - before)) bytes, $(((after - before) / N)) each; a socket has $each"
	mark over
	check "server" wait "$BG"
	smc_was "server" $N $N
	check "every connection is released" eventually 20 smc_idle
	released() { [ "$(slab)" -lt $((before + N * each / 2)) ]; }
	check "and no longer charged" eventually 20 released
	rmdir $CG
}

client() {
	local i calls=()
	for ((i = 1; i <= N; i++)); do calls+=("slot:$i" socket "connect:$PEER:5000" send:5); done
	await go
	smc_reset
	check "client" "$PROG/sockcmd" limit:60 "${calls[@]}" await:over
	smc_was "client" $N $N
}
