# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by everything that runs inside of a guest (and by host() parts).

PEER_ID=$((3 - ID))
case $ID in 1) ROLE=server ;; 2) ROLE=client ;; *) ROLE=host ;; esac

# nap SECONDS: sleep without a fork (system calls are dear on UML, processes
# are dear under TCG).
if [ "$ROLE" = host ]; then
	nap() { sleep "$1"; }
else
	[ -p /run/smcr-nap ] || mkfifo /run/smcr-nap 2>/dev/null
	exec 9<> /run/smcr-nap
	nap() { read -rt "$1" -u 9 || :; }
fi

# put FILE TEXT...: write a file so that nobody ever reads half of it.
put() {
	local f=$1; shift
	printf '%s\n' "$*" > "$f.tmp$ID" && mv "$f.tmp$ID" "$f"
}

# now: milliseconds, without a fork.
now() { local t=${EPOCHREALTIME/./}; echo "${t%???}"; }

# poll SECONDS CMD...: until CMD succeeds; SECONDS count SLOW-fold.
poll() {
	local end=$(($(now) + $1 * 1000 * SLOW)); shift
	until "$@"; do
		[ "$(now)" -lt "$end" ] || return 1
		nap 0.03
	done
}

# insmod_smcr KO [PARAM=VALUE...]: with what it depends on; insmod alone does
# not look for that.
insmod_smcr() {
	local m
	for m in $(modinfo -F depends "$1" | tr , ' '); do modprobe "$m" || return; done
	insmod "$@"
}
