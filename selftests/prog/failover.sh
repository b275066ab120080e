# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a link of several is lost: . "$PROG/failover.sh", after smc.sh,
# nicfaults.sh and puppet.sh
#
#	n_links		number of links of this host, in any state
#	have N		true if n_links is N
#	at_once		short timeouts: a lost link is noticed, and an idle group freed, soon
#	lose HOW N	card N of both hosts: cut (both ways), server or client (what
#			that host sends is lost, and so are its acknowledgments)
#	mend HOW N	end of lose HOW N
#	moved		number of connections that this host has moved
#	opened N	true if N connections have used SMC-R since smc_reset
#	one_left, each_left, bytes	see below

n_links() { "$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?)] | length'; }
have() { [ "$(n_links)" = "$1" ]; }
# soft RoCE on a busy machine acknowledges late
at_once() {
	local qp_timeout=16 t_llc=2000
	case $FABRIC$KERNEL in
	# the detector holds up both hosts: without these times links fail by themselves
	simkcsan) t_llc=8000 ;;
	sim*) qp_timeout=13 ;;
	esac
	fast qp_timeout=$qp_timeout t_llc=$t_llc t_testlink=1000 t_link_retry=60000 t_lgr_idle=$((SLOW > 3 ? 3000 : 500)) "$@"
}
moved() { counter conn-moved; }
opened() { _smc_since; [ "$_smc_n" = "$1" ]; }

lose() {
	if [ "$1" = cut ]; then
		[ "$ROLE" = client ] || path_cut "$2" "$2"
	elif [ "$1" = "$ROLE" ]; then
		lossy "$2" 1000000
	fi
}
mend() {
	if [ "$1" = cut ]; then
		[ "$ROLE" = client ] || path_mend "$2" "$2"
	elif [ "$1" = "$ROLE" ]; then
		lossy "$2" 0
	fi
}

# loaded NAME MB ARGS...: xfer in the background, as $LOAD; each connection transfers MB both ways.
# In a simulation in real time that may end before a link is lost: there xfer goes on until
# load_enough NAME.
loaded() {
	local much=("send=$2m" "recv=$2m")
	if [ "$FABRIC" = sim ] && [ "$KERNEL" != um ] && [ "$KERNEL" != umdbg ]; then
		rm -f "/tmp/enough.$1"
		much=("until=/tmp/enough.$1")
	fi
	bg "$PROG/xfer" "${@:3}" "${much[@]}"
	LOAD=$BG
}
load_enough() { : > "/tmp/enough.$1"; }

# one_left NAME [FAULT REMEDY ARG...]: a new group with two links and load on both. FAULT, of either
# host, makes one link fail. Then all connections use the other link, also those that begin later.
one_left() {
	local name=$1 fault=${2:-:} remedy=${3:-:} before b1
	shift $(($# < 3 ? $# : 3))
	smc_reset
	before=$(moved)
	if [ "$ROLE" = server ]; then
		loaded "$name" $((24 / DEAR)) server 5000 conns=8 par=8
		poll 10 listening 5000
		mark "ready.$name"
	else
		await "ready.$name"
		loaded "$name" $((24 / DEAR)) client "$PEER" 5000 conns=8 par=8
	fi
	check "$name: two links" eventually 10 have 2
	# a connection in its handshake when a link is lost may become TCP
	check "$name: all connections are open" eventually 20 opened 8
	barrier "two.$name"
	$fault "$@"
	check "$name: one link is left" eventually 20 have 1
	load_enough "$name"
	check "$name: load" wait "$LOAD"
	b1=$(bytes)
	check "$name: connections moved" test $(($(moved) - before)) -ge 3
	barrier "loaded.$name" 60
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5001 conns=8 par=4 send=1m recv=1m
		poll 10 listening 5001
		mark "more.$name"
		check "$name: later connections" wait "$BG"
	else
		await "more.$name"
		check "$name: later connections" "$PROG/xfer" client "$PEER" 5001 conns=8 par=4 send=1m recv=1m
	fi
	check "$name: all of them over the link that is left ($(($(bytes) - b1)) bytes)" test $(($(bytes) - b1)) -ge $((8 << 20))
	smc_was "$name" 16 16
	$remedy "$@"
	check "$name: no connection is left" eventually 20 smc_idle
	check "$name: no group is left" eventually 20 no_group
	barrier "over.$name" 60
}

# each_left HOST: HOST (server or client) has two cards, the other host one. Each of the two links
# is lost, first by its path, then by its card; see one_left.
each_left() {
	local card
	for card in 0 1; do
		if [ "$ROLE" = client ]; then
			one_left "path $card"
		elif [ "$1" = server ]; then
			one_left "path $card" path_cut path_mend "$card" 0
		else
			one_left "path $card" path_cut path_mend 0 "$card"
		fi
	done
	for card in 0 1; do
		if [ "$ROLE" = "$1" ]; then one_left "card $card" rdma_silence rdma_hear "$card"; else one_left "card $card"; fi
	done
}

# bytes: number of bytes that the links of this host have written
bytes() { "$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?) | ."tx-bytes"] | add // 0'; }
