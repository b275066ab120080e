#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# smcctl run and the preload library.
# shellcheck source=tools/smcctl/tests/lib.sh
. "$(dirname "$0")/lib.sh"

run "$SMCCTL" run sh -c 'exit 42'
ok "the program's status" status 42
run bash -c "$SMCCTL run -- sh -c 'kill -TERM \$\$'; exit \$?"
ok "the program's signal" status 143
run "$SMCCTL" run /no/such/program
ok "missing program" both status 127 err_has 'No such file'
run "$SMCCTL" run no-such-program
ok "missing program in PATH" status 127
run "$SMCCTL" run /etc/passwd
ok "no program" both status 126 err_has 'Permission denied'
run "$SMCCTL" run
ok "run without a program" both status 1 err_has 'program must follow'
run "$SMCCTL" run --library /no/such.so true
ok "missing library" both status 3 err_has /no/such.so
run "$SMCCTL" -j run true
ok "run has no JSON" status 1
run "$SMCCTL" run echo -v --help -j
ok "the program's own options" [ "$out" = "-v --help -j" ]
run env LD_PRELOAD="$PWD/tests/fakesmc.so" "$SMCCTL" run sh -c 'echo $LD_PRELOAD'
ok "LD_PRELOAD is extended" [ "$out" = "$PWD/tests/fakesmc.so:$PWD/libsmcr-preload.so" ]
mkdir "$tmp/with blank"
cp libsmcr-preload.so "$tmp/with blank/"
run "$SMCCTL" run --library "$tmp/with blank/libsmcr-preload.so" true
ok "path that LD_PRELOAD cannot hold" both status 1 err_has blank

printf '#include <unistd.h>\nint main(void) { return 5; }\n' > "$tmp/s.c"
if ${CC:-cc} -static -o "$tmp/static" "$tmp/s.c" 2>/dev/null; then
	run "$SMCCTL" run "$tmp/static"
	ok "static program: warned about, and run" both status 5 err_has 'statically linked'
	printf '#!%s\n' "$tmp/static" > "$tmp/script"
	chmod +x "$tmp/script"
	run "$SMCCTL" run "$tmp/script"
	ok "script of a static interpreter" both status 5 err_has 'statically linked'
fi
run "$SMCCTL" run -q sh -c true
ok "-q: no warning" [ "$rc$err" = 0 ]
run env LD_PRELOAD="$PWD/tests/fakesmc.so" FAKESMC=1 "$SMCCTL" run sh -c true
ok "ordinary program, SMC-R: no warning" [ "$(grep -c warning <<< "$err")" = 0 ]
run env LD_PRELOAD="$PWD/tests/fakesmc.so" FAKESMC=0 "$SMCCTL" run sh -c 'exit 6'
ok "no SMC-R: warned about, and run" both status 6 err_has 'warning: no SMC-R here ('
ok "no SMC-R: one line" [ "$(grep -c warning <<< "$err")" = 1 ]
run env LD_PRELOAD="$PWD/tests/fakesmc.so" FAKESMC=0 "$SMCCTL" run true
if [ -e /sys/module/smcr ]; then
	ok "no SMC-R though the module is there: no advice" [ "$(grep -c modprobe <<< "$err")" = 0 ]
elif [ -e /sys/module/smc ]; then
	ok "no SMC-R: what to do" err_has 'modprobe -r smc_diag smc'
else
	ok "no SMC-R: what to do" err_has 'the kernel module smcr is not loaded (modprobe smcr)'
fi
run env LD_PRELOAD="$PWD/tests/fakesmc.so" FAKESMC=0 "$SMCCTL" run --quiet sh -c 'exit 6'
ok "no SMC-R, --quiet" [ "$rc/$(grep -c warning <<< "$err")" = 6/0 ]

# What programs see, with fakesmc.so behind the library in place of a kernel.
show() { run env LD_PRELOAD="$PWD/libsmcr-preload.so:$PWD/tests/fakesmc.so" "$@" ./tests/sockets; }
show
ok "tcp4 becomes AF_SMC 0" err_has 'asked for 43, 0x1, 0'
ok "tcp6 becomes AF_SMC 1" err_has 'asked for 43, 0x1, 1'
ok "flags are kept" err_has 'asked for 43, 0x80801, 0'
ok "UDP stays" err_has 'asked for 2, 0x2, 0'
ok "MPTCP stays" err_has 'asked for 2, 0x1, 262'
ok "AF_UNIX stays" err_has 'asked for 1, 0x1, 0'
ok "tcp4 looks like TCP" out_has 'tcp4: domain 2 protocol 6 nonblock 0 cloexec 0 errno 0'
ok "tcp6 looks like TCP" out_has 'tcp6: domain 10 protocol 6'
ok "flags work" out_has 'flags: domain 2 protocol 6 nonblock 1 cloexec 1'
show FAKESMC=0
ok "without AF_SMC: TCP" out_has 'tcp4: domain 2 protocol 6 nonblock 0 cloexec 0 errno 0'
ok "without AF_SMC: the kernel is asked once" [ "$(grep -c 'asked for 43' <<< "$err")" = 1 ]
ok "without AF_SMC: silent" [ "$(grep -c preload <<< "$err")" = 0 ]
show FAKESMC=0 SMCR_PRELOAD_VERBOSE=1
ok "without AF_SMC: says so once when asked" [ "$(grep -c 'libsmcr-preload: SMC-R is not available' <<< "$err")" = 1 ]
finish
