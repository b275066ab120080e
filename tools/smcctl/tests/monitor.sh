#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# smcctl monitor: state at the beginning, events, lost events, end.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# lines_of: turns the output, a JSON object in each line, into a list for expr_of
lines_of() { out=$(printf '%s' "$out" | python3 -c 'import json, sys; print(json.dumps([json.loads(l) for l in sys.stdin]))'); }
count() { [ "$(grep -c "$1" <<< "$out")" = "$2" ]; }
events() { expr_of "[e['event'] for e in d if e['event'] != 'state'] == $1"; }

ctl monitor --timeout 0.3
ok "text: ends after its time" status 0
ok "it says that it listens" [ "$(head -1 <<< "$out" | cut -d' ' -f3)" = "listening;" ]
ok "a link group" count 'linkgroup 1 is active' 2
ok "a link" out_has "linkgroup 2 link 3 is in init"
ok "an event of a group" out_has "linkgroup 2 active, client"
ok "a reason" out_has "ended: lgr-idle (no use)"
ok "an event of a link" out_has "link 3 failed, "
ok "lost events" count 'events were lost; link groups and links now' 1
ok "a time in every line" [ -z "$(grep -vE '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3} ' <<< "$out")" ]

ctl -j monitor --timeout 0.3
lines_of
ok "JSON: events in their order, one that is not known as a number" events "['listening', 'group-forming', 'group-active', 'group-ended', 'link-adding', 'link-active', 'link-leaving', 'link-failed', 'link-deleted', '8', 'lost', 'group-ended']"
ok "JSON: state at the beginning and after the loss" expr_of "[len([e for e in d if e['event'] == 'state' and k in e]) for k in ('lgr', 'link')] == [6, 6]"
ok "JSON: the state follows" expr_of "d[[e['event'] for e in d].index('lost') + 1]['event'] == 'state'"
ok "JSON: the reason" expr_of "[e.get('reason-name') for e in d if e['event'] == 'group-ended'] == ['lgr-idle'] * 2"
ok "JSON: group and link" expr_of "all('lgr' in e and ('link' in e) == (e['event'][:5] != 'group') for e in d if e['event'] not in ('state', 'listening', 'lost'))"
ok "JSON: the time" expr_of "all(e['time'] > 1.6e9 for e in d)"

ctl -j monitor --timeout 0.3 linkgroup 2
lines_of
ok "only one group's events" events "['listening', 'group-active', 'link-adding', 'link-leaving', 'link-deleted', 'lost']"
FAKE=empty ctl -j monitor --timeout 0.1
lines_of
ok "nothing is there" expr_of "d[0]['event'] == 'listening' and d[1]['event'] == 'group-forming'"

FAKE_UNLOAD=1 ctl monitor --timeout 5
ok "the module goes" both status 3 err_has 'was unloaded'
FAKE=absent ctl monitor
ok "there is no module" both status 3 err_has 'not loaded'
FAKE=old ctl monitor
ok "the module has no events" both status 3 err_has 'reports no events'
FAKE=denied ctl monitor
ok "the state cannot be had" status 2
FAKE=garbage ctl monitor --timeout 0.1
ok "attributes of a wrong size" status 0
for s in INT TERM; do
	run bash -c 'rm -f "$2"; LD_PRELOAD=./tests/fakekernel.so FAKE=full "$1" monitor > "$2" & p=$!; for i in {1..100}; do grep -qs lost "$2" && break; sleep 0.05; done; kill -'"$s"' $p; wait $p' - "$SMCCTL" "$tmp/lines"
	ok "SIG$s: ends with 0" status 0
done
ok "lines are written as they come" grep -q lost "$tmp/lines"

ctl monitor nonsense
ok "unknown word" both status 1 err_has 'does not understand "nonsense"'
ctl monitor linkgroup
ok "which group?" both status 1 err_has 'one link group'
ctl monitor linkgroup x
ok "no number" both status 1 err_has 'not the ID'
ctl monitor --timeout never
ok "no time" both status 1 err_has 'number of seconds'
ctl monitor --rcvbuf 0
ok "no room" both status 1 err_has 'number of bytes'
ctl -w 1 monitor
ok "not with --watch" both status 1 err_has 'exclude each other'
ctl --timeout 1 conn
ok "not for others" both status 1 err_has 'belong to monitor'
finish
