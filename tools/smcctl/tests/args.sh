#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Arguments, refusals and exit statuses.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"

ctl --help
ok "--help" both status 0 out_has linkgroup
for v in --version -V; do
	ctl $v
	ok "$v" both status 0 out_has "smcctl 1."
done
for o in show conn linkgroup link device rmb stats monitor run help; do
	ctl $o --help
	ok "$o --help" both status 0 out_has Usage
	help=$out
	ctl help $o
	ok "help $o is the same" [ "$rc$out" = "0$help" ]
done
ctl help con
ok "help of an abbreviated object" both status 0 out_has 'smcctl conn: '
ctl help nonsense
ok "help of an unknown object" both status 1 err_has 'no object "nonsense"'
ctl help conn port
ok "help of two words" both status 1 err_has 'one object at most'

ctl nonsense
ok "unknown object" both status 1 err_has 'no object "nonsense"'
ctl s
ok "ambiguous object: names the candidates" both status 1 err_has '"s" is ambiguous: show, stats'
ctl li
ok "ambiguous beginning of link and linkgroup" both status 1 err_has '"li" is ambiguous: linkgroup, link'
ctl linkg
ok "beginning of an object" both status 0 out_has 'Peer ID'
ctl lgr
ok "alias" both status 0 out_has 'Peer ID'
ctl --frobnicate
ok "unknown option" both status 1 err_has frobnicate
ctl conn --frobnicate
ok "unknown option of an object: who says so" err_has "smcctl conn: unrecognized option '--frobnicate'"
ok "unknown option of an object: whose help" both status 1 err_has 'Try "smcctl conn --help"'
ctl run --frobnicate
ok "unknown option of run" both err_has "smcctl run: unrecognized option" err_has 'Try "smcctl run --help"'
ctl stats --help
ok "stats --help explains its options" both out_has "--reasons   " out_has "--diff SECONDS   "
ctl conn nokey 1
ok "unknown key" both status 1 err_has 'no key "nokey"'
ctl conn port
ok "key without value" both status 1 err_has 'value must follow'
ctl conn port 70000
ok "number out of range" both status 1 err_has 'too large'
ctl conn -- port -1
ok "negative number" both status 1 err_has 'not a number'
ctl conn port ten
ok "no number" both status 1 err_has 'not a number'
ctl conn addr 1.2.3
ok "no address" both status 1 err_has 'not an address'
ctl conn state SLEEPING
ok "unknown state lists the states" both status 1 err_has peer-close-wait1
ok "unknown state lists the states of TCP as well" err_has syn-sent
ctl conn uid 1 uid 2
ok "key given twice" both status 1 err_has twice
ctl conn uid 1 not uid 2 not uid 3
ok "negated keys may be repeated" status 0
ctl conn not
ok "nothing to negate" both status 1 err_has 'key must follow "not"'
ctl conn not port
ok "negated key without value" both status 1 err_has 'value must follow "port"'
ctl conn port 9-1
ok "empty range" both status 1 err_has 'no number is in 9-1'
ctl conn port 1-70000
ok "range out of range" both status 1 err_has 'too large'
for word in 1- -1-5 1--5 1-5x 5-0y; do
	ctl conn -- port "$word"
	ok "no range: $word" both status 1 err_has 'not a number'
done
for word in 10.0.0.0/33 fd77::/129 10.0.0.0/ 10.0.0.0/8/8 /8 10.0.0.0/-1 10.0.0.0/1-8; do
	ctl conn addr "$word"
	ok "no prefix: $word" both status 1 err_has 'not an address, nor a prefix'
done
ctl conn list state ACTIVE
ok "state in capitals" status 0
ctl conn state peer_close_wait1
ok "state with underscores" status 0
ctl conn keys
ok "keys" both status 0 out_has 'local or peer port'
ctl conn keys mode
ok "values of a key" both status 0 out_has smc-r
ctl conn keys state
ok "values of state are those of SMC-R and of TCP" both out_has peer-close-wait1 out_has syn-sent
ctl conn keys
ok "each key is listed once" [ -z "$(cut -d' ' -f1 <<< "$out" | sort | uniq -d)" ]
ctl conn keys nokey
ok "values of an unknown key" status 1
ctl -j conn keys nokey
ok "values of an unknown key: no empty object as JSON" both status 1 silent
ctl -j conn keys
ok "keys as JSON" json
ctl linkgroup delete
ok "delete without ID" status 1
ctl linkgroup delete 1 2
ok "delete with two IDs" status 1
ctl linkgroup delete 99999999999
ok "delete with an ID out of range" both status 1 err_has 'not the ID'
ctl linkgroup delete 7
ok "delete" both status 0 silent
ctl linkgroup balance
ok "balance all" both status 0 silent
ctl lgr balance 7
ok "balance one" both status 0 silent
ctl linkgroup balance 1 2
ok "balance with two IDs" both status 1 err_has 'balance [ID]'
for word in balance "delete 7"; do
	for o in -a -d -j --pretty "-w 1"; do
		# shellcheck disable=SC2086 # no word
		run timeout 5 env LD_PRELOAD=./tests/fakekernel.so "$SMCCTL" linkgroup $word $o
		ok "$word with $o" both status 1 err_has "${word% *} takes none of -a, -d, -j, -w"
	done
done
ctl linkgroup --help
ok "linkgroup --help explains balance and delete" both out_has "  balance [ID]  " out_has "  delete ID  "
ctl linkgroup balance seven
ok "balance with no ID" both status 1 err_has 'not the ID'
for w in "" list show; do
	# shellcheck disable=SC2086 # no word
	ctl -j linkgroup $w 2
	ok "linkgroup $w: an ID without its key" both status 0 expr_of "[x['lgr-id'] for x in d] == [2]"
done
ctl -j link 2 port 77
ok "link: an ID and a filter" both status 0 expr_of "d == []"
ctl -j rmb not lgr-id 2
ok "rmb: a negated filter is no ID" both status 0 expr_of "len(d) == 2"
ctl -j device show second
ok "device: a name without its key" both status 0 expr_of "[x['dev-name'] for x in d] == ['second']"
ctl linkgroup show 7
ok "show what is not there" both status 3 err_has 'no linkgroup has the lgr-id 7'
ok "show what is not there: no list" silent
ctl linkgroup show 99999999999
ok "show an ID out of range" status 1
ctl conn 5
ok "conn has no IDs" both status 1 err_has 'no key "5"'
FAKE=empty ctl linkgroup delete 7
ok "delete what is not there" both status 3 err_has 'no link group has this lgr-id'
FAKE=empty ctl linkgroup balance 7
ok "balance what is not there" both status 3 err_has 'no link group has this lgr-id'
FAKE=denied ctl linkgroup balance
ok "balance without the privilege" both status 2 err_has 'CAP_NET_ADMIN'
ctl -p show
ok "-p only with conn; pretty JSON is --pretty" both status 1 err_has 'belongs to conn (JSON with line breaks: --pretty)'
ctl -p run true
ok "-p not with run" status 1
ctl -s show
ok "-s only with conn and link" both status 1 err_has 'conn and link'
ctl run -s true
ok "-s before run only" status 1
ctl -s run true
ok "-s not with run" status 1
ctl show --reasons
ok "--reasons only with stats" both status 1 err_has stats
ctl stats --diff 0
ok "--diff 0" status 1
ctl stats --diff x
ok "--diff x" both status 1 err_has seconds
ctl stats --diff 1 -w 1
ok "--diff and --watch" status 1
ctl stats nonsense
ok "stats with a word" status 1
ctl -n no/such/netns show
ok "unknown network namespace" both status 3 err_has 'no network namespace'
ctl -n /etc/passwd show
ok "no network namespace at all" both status 2 err_has 'cannot enter'
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	run setpriv --bounding-set=-all --inh-caps=-all "$SMCCTL" -n /proc/self/ns/net show
	ok "network namespace without privileges" both status 2 err_has CAP_SYS_ADMIN
fi
FAKE=denied ctl conn
ok "not permitted" both status 2 err_has CAP_NET_ADMIN
FAKE=broken ctl conn
ok "dump that ends with an error" both status 2 err_has 'the fake kernel is in a mood'
for o in conn linkgroup link device rmb; do
	for mood in denied broken; do
		FAKE=$mood ctl $o
		ok "$o, $mood: no heading of a list" both status 2 silent
		FAKE=$mood ctl -j $o
		ok "$o, $mood: no empty list as JSON" both status 2 silent
	done
done
FAKE=absent ctl conn
ok "module not loaded: status" status 3
if [ -e /sys/module/smc ]; then
	ok "module not loaded: sentence" err_has 'modprobe -r smc_diag smc'
else
	ok "module not loaded: sentence" [ "$err" = "smcctl: the kernel module smcr is not loaded (modprobe smcr)" ]
fi
ok "module not loaded: no output" silent
FAKE=absent ctl -j show
ok "module not loaded: no output as JSON either" both status 3 silent
run "$SMCCTL" show
if [ ! -e /sys/module/smcr ]; then
	ok "really not loaded" both status 3 err_has 'not loaded'
fi
run sh -c "LD_PRELOAD=./tests/fakekernel.so $SMCCTL -d conn > /dev/full"
ok "full disk is an error" both status 2 err_has 'writing the output'
finish
