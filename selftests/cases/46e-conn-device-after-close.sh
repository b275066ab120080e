# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The peer has closed, and then the link group ends: the RDMA device of the
# reader or of the writer is removed, the writer's module unloaded, the group
# deleted. That waits for no reader, and each of them reads to the last byte (J-02 of the
# catalogue).
#
# covers: CONN-13
# timeout: 120
# tags: conn lifecycle
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

WHAT="reader-device writer-device delete module"
# in one kernel the module is both hosts'
[ "$FABRIC" != sim ] || WHAT=${WHAT% module}

no_group() { [ "$("$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty] | length')" = 0 ]; }

# Data that wrap; data of a connection that T_CLOSE has ended over there; some to
# the end; a byte of many, then close; none, then close; one that was half-closed.
server() {
	local w pid t all="recv:1000 recv:199000 recv:1=eof send:1=EPIPE soerror=ok close"
	for w in $WHAT; do
		smc_reset
		rm -f "$CASEDIR/mark.go.$w"
		# shellcheck disable=SC2086
		bg "$PROG/sockcmd" limit:40 socket listen:5000 mark:"up.$w" \
			slot:1 accept:0 recv:150000 mark:"more.$w" slot:2 accept:0 slot:3 accept:0 slot:4 accept:0 slot:5 accept:0 slot:6 accept:0 shut:wr \
			await:"go.$w" slot:1 $all slot:2 $all slot:3 recv:200000 recv:1=eof recv:1=eof close slot:4 recv:1 close slot:5 close slot:6 $all
		pid=$BG
		await "closed.$w" 30
		if [ "$w" = reader-device ]; then
			t=${EPOCHREALTIME/./}
			rnic_delete 0
			check "$w: it waits for no reader" test $((${EPOCHREALTIME/./} - t)) -lt $((5000000 * SLOW)) || :
		fi
		mark "lost.$w"
		await "ended.$w" 30
		check "$w: the group ends here" eventually 15 no_group || :
		check "$w: every connection has left it" eventually 10 smc_idle || :
		mark "go.$w"
		check "$w: readers" wait "$pid" || :
		smc_was "$w" 6 6
		[ "$w" != reader-device ] || rnic_add 0
		poll 20 rnic_usable 0 || fail "$w: the device does not come back"
		barrier "next.$w" 60
	done
}

client() {
	local w t
	for w in $WHAT; do
		await "up.$w" 40
		echo 700 > /proc/sys/net/smcr/t_close
		check "$w: writers" "$PROG/sockcmd" limit:20 slot:1 socket connect:"$PEER":5000 send:200000 await:"more.$w" send:150000 close \
			slot:2 socket connect:"$PEER":5000 send:200000 close sleep:1500 \
			slot:3 socket connect:"$PEER":5000 send:200000 close \
			slot:4 socket connect:"$PEER":5000 send:200000 close \
			slot:5 socket connect:"$PEER":5000 send:200000 close \
			slot:6 socket connect:"$PEER":5000 send:200000 close || :
		nap 0.3
		mark "closed.$w"
		await "lost.$w" 30
		case $w in
		writer-device) rnic_delete 0 ;;
		delete) "$SMCCTL" linkgroup delete "$("$SMCCTL" -j linkgroup | jq '[.. | objects | ."lgr-id"? // empty][0]')" ;;
		module) poll 10 unload_smcr ;;
		esac
		mark "ended.$w"
		[ "$w" != module ] || load_smcr
		[ "$w" != writer-device ] || rnic_add 0
		poll 20 rnic_usable 0 || fail "$w: the device does not come back"
		check "$w: every connection is released" eventually 20 smc_idle || :
		barrier "next.$w" 60
	done
}
