# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For cases in which a link of several is lost: . "$PROG/failover.sh", after smc.sh,
# nicfaults.sh and puppet.sh
#
#	links		how many links this host has, those that are going included
#	have N		they are N
#	at_once		a queue pair gives up after a quarter of a second, and everything
#			else that waits for a link does so soon
#	lose HOW N	card N of both hosts: cut (both ways), server or client (what
#			that host sends is lost, and so are its acknowledgments)
#	mend HOW N	... is over
#	moved		connections that this host has moved

links() { "$SMCCTL" -j link | jq '[.. | objects | select(."link-num"?)] | length'; }
have() { [ "$(links)" = "$1" ]; }
at_once() { fast qp_timeout=13 t_llc=2000 t_testlink=1000 t_link_retry=60000 t_lgr_idle=500 "$@"; }
moved() { counter conn-moved; }

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
