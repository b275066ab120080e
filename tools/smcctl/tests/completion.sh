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
words --pr
ok "options" [ "$out" = " --pretty " ]
words run --lib
ok "options of run" [ "$out" = " --library " ]
words run --library ./libsmcr-pre
ok "file of --library" [ "$out" = " ./libsmcr-preload.so " ]
finish
