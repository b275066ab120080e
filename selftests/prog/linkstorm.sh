# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which links are lost all the time: . "$PROG/linkstorm.sh"
#
#	storm LOSSES LINKS [SECONDS]	both sides: 64 connections that send in both directions all the
#			time, every byte checked, while LOSSES times a card of either host is lost in
#			one of the ways of nicfaults.sh, and comes back; each for SECONDS (5). In between
#			the group has LINKS links again. Then: no connection has seen an error, all bytes
#			arrived, and the longest stall after each kind is printed and in bounds
#
# Data are small, so that it is time that counts: a stream sends something every STORM_PAUSE ms.
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"

# the loss and its undoing; "silent": nobody is told, queue pairs give up
STORM_KINDS=(netdev_down:netdev_up rnic_delete:rnic_add rnic_pulled:rnic_add port_down:port_up gid_change:gid_back
	cable_cut:cable_mend silence:hear:silent rdma_silence:rdma_hear:silent path_cut:path_mend:silent)
STORM_CONNS=64
STORM_PAUSE=${STORM_PAUSE:-500}
# 7 times 4.096 us << 13; told at once
STORM_QP=13 STORM_SILENT=235 STORM_TOLD=0
STORM_MOST=2000

_links() { "$SMCCTL" -j link | jq '[.. | objects | select(."link-num"? and .state? == "rts")] | length'; }
_n_links() { [ "$(_links)" = "$1" ]; }
_all_open() { [ "$(($(counter conn-created) - $(counter conn-freed)))" -ge "$STORM_CONNS" ]; }

# _storm_plan N: which card of whom in what way: $who $card $other $loss $back $silent. The same on both sides. A
# host with one card keeps it.
_storm_plan() {
	local kind nics=() n
	nics[ID]=$NICS nics[PEER_ID]=$PEER_NICS
	IFS=: read -r loss back silent <<< "${STORM_KINDS[$1 % ${#STORM_KINDS[@]}]}"
	who=$((RANDOM % 2 + 1)) card=$RANDOM other=$RANDOM
	[ "${nics[who]}" -gt 1 ] || who=$((3 - who))
	n=${nics[who]}
	card=$((card % n))
	n=${nics[3 - who]}
	other=$((other % n))
}

# _storm_report: the longest stall that ended after a loss of each kind, before the next one
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

storm() {
	local losses=$1 links=$2 secs=${3:-5} i who card other loss back silent n most pid limit
	fast max_links=8 qp_timeout=$STORM_QP t_testlink=1000 t_llc=1000 t_link_retry=1000
	: > "$CASEDIR/losses.$ROLE"
	smc_reset
	if [ "$ROLE" = server ]; then
		n=${SRANDOM:0:9}
		mark seed "${SEED:-$n}"
		RANDOM=${SEED:-$n}
		bg "$PROG/xfer" server 5000 conns=$STORM_CONNS par=$STORM_CONNS wchunk=1:2000 wpause="$STORM_PAUSE" idle=60000 \
			until="$CASEDIR/enough" gaps="$CASEDIR/gaps.$ROLE"
		pid=$BG
		poll 10 listening 5000
		mark ready
	else
		await seed
		RANDOM=$MARK
		await ready
		bg "$PROG/xfer" client "$PEER" 5000 conns=$STORM_CONNS par=$STORM_CONNS wchunk=1:2000 wpause="$STORM_PAUSE" idle=60000 \
			until="$CASEDIR/enough" gaps="$CASEDIR/gaps.$ROLE"
		pid=$BG
	fi
	check "$STORM_CONNS connections" eventually 30 _all_open
	check "$links links" eventually 20 _n_links "$links"
	barrier begin 60
	for ((i = 0; i < losses; i++)); do
		_storm_plan "$i"
		echo "$(now) $loss" >> "$CASEDIR/losses.$ROLE"
		if [ "$who" = "$ID" ]; then
			if [ "$loss" = path_cut ]; then path_cut "$card" "$other"; else "$loss" "$card"; fi
		fi
		nap "$secs"
		if [ "$who" = "$ID" ]; then
			if [ "$loss" = path_cut ]; then path_mend "$card" "$other"; else "$back" "$card"; fi
		fi
		nap "$secs"
		_n_links "$links" || eventually 30 _n_links "$links" ||
			check "loss $i, $loss of card $card of host $who: $links links again, not $(_links)" false
		barrier "over.$i" 60
	done
	[ "$ROLE" = client ] || touch "$CASEDIR/enough"
	check "no error and no wrong byte" wait "$pid"
	smc_was "$ROLE" $STORM_CONNS $STORM_CONNS
	echo "connections moved: $(counter conn-moved)"
	check "connections moved" test "$(counter conn-moved)" -ge "$losses"
	mark "sum.$ID" "$(sed -n 's/.*sent \([0-9]*\) received \([0-9]*\).*/\1 \2/p' "$CASEDIR/$ROLE-bg1.log")"
	await "sum.$PEER_ID"
	eq "all bytes arrived" "$(sed -n 's/.*sent \([0-9]*\) received \([0-9]*\).*/\2 \1/p' "$CASEDIR/$ROLE-bg1.log")" "$MARK"
	while read -r loss n most; do
		limit=$STORM_TOLD
		[[ " ${STORM_KINDS[*]}" != *" $loss:"*:silent* ]] || limit=$STORM_SILENT
		echo "longest stall after $n times $loss: $most ms"
		check "$loss: no stall longer than $((limit + STORM_MOST * SLOW)) ms" test "$most" -le $((limit + STORM_MOST * SLOW))
	done < <(_storm_report)
}
