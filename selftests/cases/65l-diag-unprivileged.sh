# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Without CAP_NET_ADMIN a dump shows links, RMBs and connections, but not what a local
# user with a queue pair would need to forge packets of them.
#
# covers: MISC-15
# timeout: 30
# tags: diag
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"

SECRETS='["qpn","peer-qpn","psn","peer-psn","user-id","peer-user-id","rkey","va","token","peer-token"]'

# shown OBJECT [CMD...]: which of these the tool has of it, where CMD runs it
shown() {
	"${@:2}" "$SMCCTL" -ja "$1" |
		jq -c --argjson s "$SECRETS" '[.. | objects | keys[]] | unique | map(select(IN($s[])))'
}
count() { "${@:2}" "$SMCCTL" -ja "$1" | jq '[.. | objects | select(has("lgr-id"))] | length'; }

server() {
	local plain=(setpriv --bounding-set=-all --inh-caps=-all) o
	bg "$PROG/sockcmd" limit:25 socket listen:5000 mark:up slot:1 accept:0 recv:5 mark:there recv:1=eof close
	await there 20
	eq "links, as administrator" "$(shown link)" '["peer-psn","peer-qpn","peer-user-id","psn","qpn","user-id"]' || :
	eq "RMBs, as administrator" "$(shown rmb)" '["rkey","va"]' || :
	eq "connections, as administrator" "$(shown conn)" '["peer-token","token"]' || :
	for o in link rmb conn; do
		eq "$o, as anybody" "$(shown $o "${plain[@]}")" '[]' || :
		eq "$o are shown" "$(count $o "${plain[@]}")" "$(count $o)" || :
	done
	check "text" "${plain[@]}" "$SMCCTL" -da link || :
	mark seen
	check "server" wait "$BG"
}

client() {
	await up 20
	check "client" "$PROG/sockcmd" limit:25 socket connect:"$PEER":5000 send:5 await:seen close
}
