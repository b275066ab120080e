# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A link whose completions come late: nothing is sent over the other link before all
# posted work requests have completed, although the peer has reported the failure at once.
# And a link that is added under load, again and again in vain: no stream stops meanwhile.
#
# covers: FO-03 LG-29
# nics: 2/2
# timeout: 120
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

# of the client's second card: an interrupt is a second behind its completion
slow_card() { [ "$ROLE" = server ] || echo "$1" > "$(_sim 1)/cq_delay"; }

late() {
	smc_reset
	if [ "$ROLE" = server ]; then
		app_bg limit:40 socket listen:5000 mark:up slot:1 accept:0 recv:5 send:5 slot:2 accept:0 recv:5 send:5 \
			await:cut slot:2 send:9 recv:9 send:9 recv:1=eof close slot:1 recv:1=eof close
	else
		await up
		app_bg limit:40 slot:1 socket "connect:$PEER:5000" send:5 recv:5 await:two \
			slot:2 socket "connect:$PEER:5000" send:5 recv:5 mark:open \
			await:cut start send:9 recv:18 elapsed:1000:4000 close slot:1 close
		check "two links" eventually 10 have 2
		mark two
	fi
	await open
	slow_card 1000000000
	barrier slow
	if [ "$ROLE" = server ]; then path_cut 1 1; mark cut; fi
	app_end "program"
	check "the second link is lost" eventually 20 have 1
	smc_was "late completions" 2 2
	slow_card 0
	[ "$ROLE" = client ] || path_mend 1 1
	check "no connection is left" eventually 20 smc_idle
	check "no group is left" eventually 20 no_group
	barrier late
}

# numbers of the links; the peer may report a loss before this host has noticed it
numbers() { "$SMCCTL" -j link | jq -c '[.. | objects | ."link-num"? // empty]'; }
one_gone() { jq -e --argjson now "$(numbers)" '. - $now | length == 1' <<< "$1" > /dev/null; }
added() {
	local i links
	smc_reset
	if [ "$ROLE" = server ]; then
		bg "$PROG/xfer" server 5001 conns=4 par=4 send=12m recv=12m pause=60 idle=800
		poll 10 listening 5001
		mark up2
	else
		await up2
		bg "$PROG/xfer" client "$PEER" 5001 conns=4 par=4 send=12m recv=12m pause=60 idle=800
	fi
	check "two links, under load" eventually 10 have 2
	barrier loaded
	for i in 1 2; do
		links=$(numbers)
		barrier "cut.$i"
		[ "$ROLE" = client ] || path_cut 1 1
		check "the second link is lost" eventually 20 one_gone "$links"
		# an attempt to add it fails on the way, the next one does not
		nap 1.2
		[ "$ROLE" = client ] || path_mend 1 1
		check "and added" eventually 20 have 2
		barrier "added.$i"
	done
	check "no stream stopped" wait "$BG"
	smc_was "links added under load" 4 4
}

both() {
	_is_sim || skip "completions can be made late in the simulation only"
	at_once max_links=2
	late
	at_once max_links=2 t_link_retry=1000 t_llc=800 t_testlink=300
	added
}
server() { both; }
client() { both; }
