# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which links are lost all the time: . "$PROG/linkstorm.sh"
#
#	storm LINKS N	both sides: 64 connections send in both directions all the time, every
#			byte checked. Every ten seconds a card of either host is lost, in one
#			of the ways of nicfaults.sh, and comes back five seconds later; then
#			the group has LINKS links again. At the end: no connection has seen an
#			error, and all bytes have arrived. The longest stall after each kind of
#			loss is printed; in the simulation it is at most two seconds longer than
#			the loss takes to be noticed (Documentation/failover.rst)
#
# $SEED decides which host loses which card in which way; nine losses in a row are of nine kinds. In
# the simulation there are 60 losses, nine on the debug kernel, where processor time is dear; on
# pairs of guests N divided by $DEAR.
#
# Each stream sends a small amount every STORM_PAUSE ms: stalls are measured, not throughput.
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# LOSS:UNDO[:silent]; silent: there is no event, but the retries of queue pairs are exhausted
STORM_KINDS=(netdev_down:netdev_up rnic_delete:rnic_add rnic_pulled:rnic_add port_down:port_up gid_change:gid_back
	cable_cut:cable_mend silence:hear:silent rdma_silence:rdma_hear:silent path_cut:path_mend:silent)
STORM_CONNS=64
STORM_PAUSE=1000
STORM_SLOT=10 STORM_GONE=5
# ms until a silent loss is noticed: 7 times 4.096 us << STORM_QP. Others are reported at once.
STORM_QP=13 STORM_SILENT=235 STORM_TOLD=0
STORM_MOST=2000

_links() { "$SMCCTL" -j link | jq '[.. | objects | select(."link-num"? and .state? == "rts")] | length'; }
_n_links() { [ "$(_links)" -ge "$1" ]; }
_all_open() { [ "$(($(counter conn-created) - $(counter conn-freed)))" -ge "$STORM_CONNS" ]; }

# _storm_draw N: the kinds of N losses, by $RANDOM
_storm_draw() {
	local i j kind round=()
	storm_plan=()
	while [ ${#storm_plan[@]} -lt "$1" ]; do
		round=("${STORM_KINDS[@]}")
		for ((i = ${#round[@]} - 1; i > 0; i--)); do
			j=$((RANDOM % (i + 1)))
			kind=${round[i]} round[i]=${round[j]} round[j]=$kind
		done
		storm_plan+=("${round[@]}")
	done
}

# _storm_next N: draws loss N, the same on both sides: $card of host $who by $loss, undone by $back;
# $silent; $other is a card of the other host. A host with one card does not lose it.
_storm_next() {
	local nics=()
	nics[ID]=$NICS nics[PEER_ID]=$PEER_NICS
	IFS=: read -r loss back silent <<< "${storm_plan[$1]}"
	who=$((RANDOM % 2 + 1)) card=$RANDOM other=$RANDOM
	[ "${nics[who]}" -gt 1 ] || who=$((3 - who))
	card=$((card % nics[who])) other=$((other % nics[3 - who]))
}

# _storm_hear N: makes an event of port N, which is up already. Soft RoCE reports a carrier that
# comes back, so the carrier is taken away first.
_storm_hear() {
	if [ "$FABRIC" != sim ]; then
		cable_cut "$1"
		nap 1
	fi
	port_up "$1"
}

# _storm_report: a line for each kind: number of losses, and the longest stall that ended after a
# loss of that kind and before the next loss; ms
_storm_report() {
	awk -v pause="$STORM_PAUSE" '
		FNR == NR { at[n++] = $1; kind[n - 1] = $2; of[$2]++; next }
		{
			for (i = n - 1; i >= 0 && at[i] > $1; i--);
			if (i < 0) next
			# the pause of the sender is no stall
			if ($2 - pause > most[kind[i]]) most[kind[i]] = $2 - pause
		}
		END { for (k in of) print k, of[k], most[k] + 0 }
	' "$CASEDIR/losses.$ROLE" "$CASEDIR/gaps.$ROLE" | sort
}

# _storm_stalls: prints the stalls and, in the simulation, checks them
_storm_stalls() {
	local entry n most limit
	declare -A silent=()
	for entry in "${STORM_KINDS[@]}"; do
		[[ $entry != *:silent ]] || silent[${entry%%:*}]=1
	done
	while read -r loss n most; do
		limit=$STORM_TOLD
		[ -z "${silent[$loss]:-}" ] || limit=$STORM_SILENT
		limit=$((limit + STORM_MOST))
		if [ "$FABRIC" = sim ]; then
			check "$loss, $n times: longest stall $most ms, at most $limit" test "$most" -le $limit
		else
			check "$loss, $n times: longest stall $most ms, not judged" true
		fi
	done < <(_storm_report)
}

storm() {
	local links=$1 losses=$(($2 / DEAR)) i who card other loss back silent begin slot n pid storm_plan
	case $FABRIC$DEAR in sim1) losses=60 ;; sim*) losses=9 ;; esac
	fast max_links=8 qp_timeout=$STORM_QP t_testlink=1000 t_llc=1000 t_link_retry=1000
	: > "$CASEDIR/losses.$ROLE"
	smc_reset
	if [ "$ROLE" = server ]; then
		n=${SRANDOM:0:9}
		mark seed "${SEED:-$n}"
		RANDOM=${SEED:-$n}
		set -- server 5000
	else
		await seed
		RANDOM=$MARK
		await ready
		set -- client "$PEER" 5000
	fi
	_storm_draw "$losses"
	bg "$PROG/xfer" "$@" conns=$STORM_CONNS par=$STORM_CONNS wchunk=1:2000 wpause="$STORM_PAUSE" idle=60000 \
		until="$CASEDIR/enough" gaps="$CASEDIR/gaps.$ROLE"
	pid=$BG
	if [ "$ROLE" = server ]; then
		poll 10 listening 5000
		mark ready
	fi
	check "$STORM_CONNS connections" eventually 30 _all_open
	check "$links links" eventually 20 _n_links "$links"
	barrier begin 60
	begin=$(now)
	for ((i = 0; i < losses; i++)); do
		_storm_next "$i"
		slot=$(now)
		echo "$slot $loss" >> "$CASEDIR/losses.$ROLE"
		if [ "$who" = "$ID" ]; then
			if [ "$loss" = path_cut ]; then path_cut "$card" "$other"; else "$loss" "$card"; fi
		fi
		nap $STORM_GONE
		if [ "$who" = "$ID" ]; then
			if [ "$loss" = path_cut ]; then path_mend "$card" "$other"; else "$back" "$card"; fi
			# A group with two links is redundant: it makes no other until a port event.
			[ -z "$silent" ] || [ "$links" = 2 ] || _storm_hear "$card"
		fi
		_n_links "$links" || eventually 30 _n_links "$links" ||
			check "loss $i, $loss of card $card of host $who: $links links again, not $(_links)" false
		n=$((slot + STORM_SLOT * 1000 - $(now)))
		[ $n -le 0 ] || nap "$((n / 1000)).$(printf %03d $((n % 1000)))"
		barrier "over.$i" 60
	done
	check "$losses losses in $((($(now) - begin) / 1000)) s" test "$losses" -gt 0
	[ "$ROLE" = client ] || touch "$CASEDIR/enough"
	check "no error and no wrong byte" wait "$pid"
	smc_was "$ROLE" $STORM_CONNS $STORM_CONNS
	echo "connections moved: $(counter conn-moved)"
	check "connections moved" test "$(counter conn-moved)" -ge "$losses"
	mark "sum.$ID" "$(sed -n 's/.*sent \([0-9]*\) received \([0-9]*\).*/\1 \2/p' "$CASEDIR/$ROLE-bg1.log")"
	await "sum.$PEER_ID"
	eq "all bytes arrived" "$(sed -n 's/.*sent \([0-9]*\) received \([0-9]*\).*/\2 \1/p' "$CASEDIR/$ROLE-bg1.log")" "$MARK"
	_storm_stalls
}
