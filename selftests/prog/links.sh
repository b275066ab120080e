# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Links and link groups as smcctl shows them, and its events of links that are deleted:
# . "$PROG/links.sh", after smc.sh
#
#	links FILTER		jq FILTER of each link of this host, in one line
#	group FILTER		jq FILTER of the link group
#	says DESC FILTER VALUE	a subtest: links FILTER is VALUE, within 10 s
#	group_says ...		the same of group
#	monitor_links		starts smcctl monitor; life LINK: its events of that link, in
#				order, "adding active failed:link-error deleted"
links() { "$SMCCTL" -j link | jq -r "[.. | objects | select(.\"link-num\"?)] | sort_by(.\"link-num\") | map($1) | join(\" \")"; }
group() { "$SMCCTL" -j linkgroup | jq -r "[.. | objects | select(.\"peer-id\"?)] | first | $1"; }

_is() { _got=$("$1" "$2") && [ "$_got" = "$3" ]; }
says() {
	poll 10 _is links "$2" "$3" || :
	eq "$ROLE, links: $1" "$_got" "$3"
}
group_says() {
	poll 10 _is group "$2" "$3" || :
	eq "$ROLE, group: $1" "$_got" "$3"
}

monitor_links() {
	bg "$SMCCTL" -j monitor
	_links_log=$CASEDIR/$ROLE-bg$_nbg.log
	poll 10 grep -q listening "$_links_log" || fail "the monitor does not listen"
}
life() {
	jq -r "select(.link.\"link-num\" == $1 and .event != \"state\") | .event[5:] +
		if .\"reason-name\" then \":\" + .\"reason-name\" else \"\" end" "$_links_log" | paste -sd' '
}
