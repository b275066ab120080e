# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What smcctl says of links, and of those that are gone: . "$PROG/links.sh", after smc.sh
#
#	links FILTER		of all links of this host, by jq, one line
#	group FILTER		of the link group
#	says DESC FILTER VALUE	links FILTER is VALUE, at once or soon
#	group_says ...		likewise
#	monitor_links		smcctl monitor; life LINK: what it has told of that link, in
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
