# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Features that work inside of TCP's data path, and would bypass SMC-R, are refused on
# AF_SMC sockets in every state, without any effect: TLS and others by TCP_ULP,
# TCP_REPAIR, zero-copy receive and send, sockmap. On TCP sockets of the same kernel they
# work.
#
# covers: SEC-07
# timeout: 60
# tags: api sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"

# nomap: the kernel has no such maps
NO=(ulp:tls=EOPNOTSUPP ulp:nonesuch=EOPNOTSUPP repair=EOPNOTSUPP zcrecv=EOPNOTSUPP zcsend=EOPNOTSUPP
    "sockmap=EOPNOTSUPP|nomap" "sockhash=EOPNOTSUPP|nomap" mmap=ENODEV)

server() {
	smc_reset
	app_bg limit:40 slot:0 socket "${NO[@]}" listen:5000 "${NO[@]}" mark:up \
		slot:1 accept:0 recv:5000 "${NO[@]}" send:5000 recv:5000 "${NO[@]}" recv:1=eof "${NO[@]}" close \
		slot:1 accept:0 recv:5000 "${NO[@]}" send:5000 recv:5000 "${NO[@]}" recv:1=eof close
	app_end "server"
	eq "one by SMC-R, one by TCP" "$(smc_servers) $(smc_fallbacks)" "1 1"
}

client() {
	await up
	modprobe tls 2> /dev/null || :
	app "over SMC-R" socket "${NO[@]}" "connect:$PEER:5000" "${NO[@]}" send:5000 "${NO[@]}" recv:5000 send:5000 \
		"${NO[@]}" shut:wr "${NO[@]}" recv:1=eof close
	app "the listener's fallback" socket:tcp "connect:$PEER:5000" send:5000 recv:5000 send:5000 shut:wr recv:1=eof close
	# TCP sockets accept the same calls
	app "on TCP" slot:0 socket:tcp listen:5009 slot:1 socket:tcp "connect:$ME:5009" slot:2 accept:0 \
		zcsend zcrecv ulp:tls 'sockmap=EINVAL|EBUSY|nomap' slot:1 'sockmap=ok|nomap' repair
	# and the client's own fallback
	echo 0 > /proc/sys/net/smcr/enabled
	app "fallback of a client" slot:0 socket:tcp listen:5008 slot:1 socket "connect:$ME:5008" "${NO[@]}" slot:2 accept:0 \
		send:5000 slot:1 recv:5000 "${NO[@]}" close
}
