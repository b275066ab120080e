#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The completion, by calling its function.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"
. completion/smcctl.bash

# words WORD...: completions of the last WORD, in $out
words() {
	COMP_WORDS=("$SMCCTL" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_smcctl
	out=" ${COMPREPLY[*]} "
}

words ''
ok "objects" out_has " linkgroup "
words li
ok "objects by their beginning" [ "$out" = " linkgroup link " ]
words conn ''
ok "verbs and keys" both out_has " keys " out_has " peer-diagnosis "
words conn mode ''
ok "values" both out_has " smc-r " out_has " tcp "
words -j conn list state PEER
ok "values are in small letters" [ "$out" = "  " ]
words conn list state peer-cl
ok "values of a second word" out_has " peer-close-wait2 "
words conn mode tcp rol
ok "a second key" [ "$out" = " role " ]
words conn keys ta
ok "no such key" [ "$out" = "  " ]
words conn mode tcp not rol
ok "a negated key" [ "$out" = " role " ]
words conn list not mode tc
ok "values of a negated key" [ "$out" = " tcp " ]
words conn not mode tcp peer-p
ok "a key behind a negated one" [ "$out" = " peer-port " ]
# The completion runs smcctl by the name that was typed: here a script that adds the fake kernel.
real=$SMCCTL SMCCTL=$tmp/smcctl
printf '#!/bin/sh\nLD_PRELOAD=./tests/fakekernel.so exec %s "$@"\n' "$real" > "$SMCCTL"
chmod +x "$SMCCTL"
for o in lg lgr linkgroup con connection conn device dev; do
	words "$o" ''
	ok "$o: keys" both out_has " keys " out_has " dev-name "
done
words lg delete ''
ok "delete: link groups" [ "$out" = " 1 2 4294967295 " ]
words lgr balance ''
ok "balance: link groups" [ "$out" = " 1 2 4294967295 " ]
words lgr delete 1 ''
ok "delete: only one" [ "$out" = "  " ]
words link lgr-id 42
ok "values of lgr-id" [ "$out" = " 4294967295 " ]
words conn dev-name sec
ok "values of dev-name" [ "$out" = " second " ]
words device dev-name ''
ok "values of a device's dev-name" out_has " second "
words help li
ok "help: objects" [ "$out" = " linkgroup link " ]
words monitor ''
ok "monitor: its words" both out_has " linkgroup " out_has " --timeout "
words monitor linkgroup ''
ok "monitor: link groups" [ "$out" = " 1 2 4294967295 " ]
words stats ''
ok "stats: its options" both out_has " --reasons " out_has " --diff "
SMCCTL=$real
words --pr
ok "options" [ "$out" = " --pretty --processes " ]
words run --lib
ok "options of run" [ "$out" = " --library " ]
words run --library ./libsmcr-pre
ok "file of --library" [ "$out" = " ./libsmcr-preload.so " ]
finish
