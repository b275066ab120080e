#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Output: JSON is valid, complete and stable; text has what users look for.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# No output is correct if the first request has failed already
json_or_error() { if [ -z "$out" ]; then status 2; else json; fi; }

for mood in full empty garbage broken; do
	for o in show conn linkgroup link device rmb stats; do
		for opts in -j --pretty -ja; do
			FAKE=$mood ctl $opts $o
			ok "$o $opts: JSON, kernel $mood" json_or_error
		done
		FAKE=$mood ctl -da $o
		ok "$o -da: text, kernel $mood" [ "$rc" -le 2 ]
	done
done

# No control character but the ends of lines
only_text() { [ -z "$(tr -d '\n' <<< "$out" | tr -d '[:print:]')" ]; }

# Keys are the attribute names of the specification.
cat > "$tmp/keys.py" <<'PY'
import json, sys, yaml
spec = yaml.safe_load(open('../../Documentation/netlink/specs/smcr.yaml'))
sets = {s['name']: s for s in spec['attribute-sets']}
def check(name, obj):
    attrs = {a['name']: a for a in sets[name]['attributes'] if a['type'] != 'pad'}
    assert set(obj) == set(attrs), set(obj) ^ set(attrs)
    for k, v in obj.items():
        nested = attrs[k].get('nested-attributes')
        for sub in (v if isinstance(v, list) else [v]) if nested else []:
            check(nested, sub)
check(sys.argv[1], json.load(sys.stdin)[0])
PY
same_keys() { printf '%s' "$out" | python3 "$tmp/keys.py" "$1"; }
for pair in conn:conn linkgroup:lgr link:link device:dev rmb:rmb; do
	ctl -ja "${pair%:*}"
	ok "${pair%:*}: keys as specified" same_keys "${pair#*:}"
done

ctl -ja conn
ok "hostile strings survive" expr_of "d[2]['reason-text'] == 'quote\" back\\\\ tab\t \x01'"
ok "64-bit values are exact" expr_of "d[2]['cookie'] == 2**64 - 1"
ok "unknown enum values are numbers" expr_of "d[2]['mode'] == 2**32 - 1"
ok "flags are a list" expr_of "'tx-blocked' in d[2]['flags']"
ctl conn
ok "fallback in words" out_has "peer declined: no SMC-R device (0x03030002)"
ok "fallback: mode and addresses" out_has "TCP          ESTABLISHED  -           127.0.0.1:4711   127.0.0.2:80"
ctl conn port 4711
ok "filter shows" out_has 127.0.0.2:80
# expr_of_titles WORDS...: the first line has each of these sequences of words
expr_of_titles() {
	local line want
	line=$(head -n 1 <<< "$out" | tr -s ' ')
	for want; do [[ $line == *"$want"* ]] || return; done
}
ctl link
ok "links have a role and a load" expr_of_titles "Group Link State Role" "Conns Writes Bytes Reason"
ctl linkgroup
ok "link groups have links" expr_of_titles "Links Redundancy Moved"
ctl -d linkgroup
ok "links that are deleted, in detail" out_has " is deleted, "
ctl -j conn port 4711
ok "filter hides" expr_of "len(d) == 1"
ctl -j conn addr 127.0.0.2
ok "filter by address" expr_of "len(d) == 1 and d[0]['peer-port'] == 80"
ctl -j conn port 4000-5000
ok "filter by a range of ports" expr_of "[c['local-port'] for c in d] == [4711]"
ctl -j conn port 80-81
ok "a range applies to the peer's port as well" expr_of "[c['peer-port'] for c in d] == [80]"
for prefix in 127.0.0.0/30 127.0.0.2/32 127.0.0.0/8 127.0.0.3/31; do
	ctl -j conn addr $prefix
	ok "filter by prefix $prefix" expr_of "len(d) == 1 and d[0]['peer-port'] == 80"
done
ctl -j conn addr 128.0.0.0/1
ok "filter by prefix of one bit" expr_of "len(d) == 1 and d[0]['local-addr'] == '253.119.0.0'"
ctl -j conn addr 0.0.0.0/0
ok "prefix of all IPv4 addresses" expr_of "len(d) == 2"
ctl -j conn addr fd00::/9
ok "prefix of IPv6 addresses" expr_of "d and all(c['local-addr'] == 'fd77::2' for c in d)"
ctl -j conn addr 127.0.0.4/31
ok "another prefix" expr_of "d == []"
ctl -j conn not port 4711
ok "negated filter" expr_of "len(d) == 3 and 4711 not in [c['local-port'] for c in d]"
ctl -j conn '!' addr 127.0.0.0/8 not mode listen
ok "two negated filters, of several objects" expr_of "d and not [c for c in d if c['mode'] == 'listen' or c['local-addr'] == '127.0.0.1']"
ctl -j conn state ESTABLISHED
ok "filter by the state that is shown" expr_of "len(d) == 1 and d[0]['local-port'] == 4711"
ctl -j conn not state established
ok "filter by the state that is not shown" expr_of "len(d) == 3"
ctl -j conn port 4712
ok "nothing found is an empty list" expr_of "d == []"
ctl -j conn
ok "listeners are left out" expr_of "not [c for c in d if c['mode'] == 'listen']"
# A process that has the socket open, under a hostile name that is not its program's.
cat > "$tmp/holder.py" <<'PY'
import os, socket, subprocess, sys
a, b = socket.socketpair()
os.environ['FAKE_INODE'] = str(os.fstat(a.fileno()).st_ino)
a2 = os.dup(a.fileno())
with open('/proc/self/comm', 'wb') as f:
    f.write(b'ho l\x1b\xff"der')
print(f'want ho l??"der(pid={os.getpid()},fd={a.fileno()}),ho l??"der(pid={os.getpid()},fd={a2})', flush=True)
print('json', os.getpid(), a.fileno(), a2, flush=True)
sys.exit(subprocess.run(sys.argv[1:]).returncode)
PY
# held ARG...: smcctl under that process; expected: text $want, and in JSON $pid, $fd1, $fd2
held() {
	run python3 "$tmp/holder.py" env LD_PRELOAD=./tests/fakekernel.so FAKE=full "$SMCCTL" "$@"
	want=$(sed -n 's/^want //p' <<< "$out")
	read -r _ pid fd1 fd2 <<< "$(grep '^json ' <<< "$out")"
	out=$(grep -v -e '^want ' -e '^json ' <<< "$out")
}
held -p conn port 4711
ok "-p: the processes of a socket" both out_has "$want  peer declined" out_has "Process"
held conn port 4711
ok "no processes without -p" [ -z "$(grep -e holder -e Process <<< "$out")" ]
held -j -p conn
ok "-p: processes as JSON" expr_of "d[-1]['processes'] == [{'name': 'ho l??\"der', 'pid': $pid, 'fd': n} for n in ($fd1, $fd2)]"
ok "-p: sockets of nobody" expr_of "d[0]['processes'] == []"
ctl -j conn
ok "no processes as JSON without -p" expr_of "not [c for c in d if 'processes' in c]"
ctl conn mode listen
ok "queues of a listener" out_has "44 of 45 wait for accept(), 46 negotiate"
ctl -s conn port 4711
ok "-s: nothing to count, no line" [ "$(printf '%s\n' "$out" | wc -l)" = 2 ]
ctl -s conn not port 4711
ok "-s conn: counters" out_has "  rx-bytes 42  tx-bytes 43"
ok "-s conn: nothing else" [ -z "$(grep token <<< "$out")" ]
ctl -s link
ok "-s link: counters" both out_has "tx-sends" out_has "rx-sends"
ctl -j stats
ok "counters by name" expr_of "d['counters']['second'] == 5"
ctl -j stats --reasons
ok "--reasons" expr_of "'counters' not in d and len(d['reasons']) == 3"
FAKE=empty ctl stats
ok "nothing counted" out_has "No fallback"
ctl stats --diff 0.2
ok "--diff: constant counters are left out" both status 0 out_has "Nothing was counted"
ctl -ja stats --diff 0.2
ok "--diff as JSON" expr_of "d['counters']['name'] == 0 and 0.1 < d['seconds'] < 20"
ctl show
ok "show: reasons" out_has "Reasons of fallbacks"
for o in show conn linkgroup link device stats; do
	FAKE=hostile ctl -d $o
	ok "$o: control characters are escaped" both out_has '\x1b[2J\x7f' only_text x
done
FAKE=hostile ctl show
ok "show: a setting that is not there is not off" [ -z "$(grep Disabled <<< "$out")" ]
ctl -d show
ok "show -d: settings" out_has max_handshakes
files=$({
	sed -nE 's/^\tX\(([a-z_]+),.*/\1/p' ../../net/base/knobs.h
	sed -n 's/.*procname = "\(.*\)";/\1/p' ../../net/ctl/sysctl.c
} | sort)
ok "show -d: settings are called as in /proc/sys" [ "$files" = \
	"$(sed -n '/^Settings/,$s/^  \([a-z_]*\) .*/\1/p' <<< "$out" | sort)" ]
ctl -j show
ok "show: JSON has the same names" [ "${files//_/-}" = "$(python3 -c \
	'import json, sys; print(*sorted(json.load(sys.stdin)["sys"]["knobs"]), sep="\n")' <<< "$out")" ]
ok "show: when a silent path is noticed, as JSON" expr_of "d['detection']['busy-ms'] == 7 * (4096 << d['sys']['knobs']['qp-timeout'] % 32) // 1000000"
ctl show
ok "show: when a silent path is noticed" out_has "Detection    a silent path within"
run timeout 1 env LD_PRELOAD=./tests/fakekernel.so "$SMCCTL" -j -w 0.2 show
ok "--watch repeats" [ "$(printf '%s\n' "$out" | wc -l)" -ge 2 ]

# Every diagnosis code that the module can send is explained.
missing=
for code in $(grep -oE '0x0[1-9][0-9a-f]{6}' ../../net/core/reason.h); do
	grep -q "$code" diag.c || missing+=" $code"
done
ok "all diagnosis codes have a text$missing" [ -z "$missing" ]
run python3 ../../scripts/ynl-gen --check
ok "generated files are up to date" status 0
finish
