# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The off switch of a service: a port in excluded_ports stays on TCP, whichever side
# excludes it, over IPv4 and IPv6, in this namespace only. Existing SMC-R connections go
# on.
#
# covers: SEC-04
# timeout: 60
# tags: fallback tcpopt sec
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/tcpopt.sh
. "$PROG/tcpopt.sh"
# shellcheck source=selftests/prog/puppet.sh
. "$PROG/puppet.sh"
KNOB=/proc/sys/net/smcr/excluded_ports

# clt NAME PORT HOST: the client of smc_serve
clt() {
	await "up.$1" 40
	smc_reset
	watch "$1" "$2"
	check "$1: client" "$PROG/xfer" client "$3" "$2" send=30k recv=50k
	watched
}

server() {
	eq "nothing is excluded" "$(<$KNOB)" ""
	# a connection from before the knobs are turned, used afterwards
	app_bg limit:60 socket listen:5000 mark:up accept:0 recv:5 send:5 await:turned recv:5 send:5 recv:1=eof close
	local first=$_app
	await turned
	check "a list is refused that is none" bash -c "! echo 5001,nonsense > $KNOB" 2> /dev/null
	check "a port that is none is refused" bash -c "! echo 65536 > $KNOB" 2> /dev/null
	echo 5001,5010-5019 > $KNOB
	eq "ports and ranges" "$(<$KNOB)" 5001,5010-5019
	eq "smcctl has the list" "$("$SMCCTL" -j show | jq -r '.sys.knobs["excluded-ports"]')" 5001,5010-5019
	seq -s, 7001 2 7301 > $KNOB
	eq "a long list ends with dots" "$("$SMCCTL" -j show | jq -r '.sys.knobs["excluded-ports"]')" "$(seq -s, 7001 2 7201),..."
	echo 5001,5010-5019 > $KNOB
	smc_serve here 5001; tcp_was here 1
	smc_serve range 5019; tcp_was range 1
	smc_serve six 5010; tcp_was six 1
	smc_serve beside 5020; smc_was beside 1 1
	smc_serve there 5003; tcp_was there 1
	eq "other namespaces are not concerned" "$(unshare -n cat $KNOB)" ""
	check "the reason is named" test "$(counter policy)" -ge 3
	# a listener from before: its first connection may get the option, and a Decline
	app_bg limit:60 socket listen:5004 mark:up4 accept:0 recv:5 send:5 recv:1=eof close
	await up4
	echo 5004 > $KNOB
	smc_reset
	mark excluded
	app_end "turned under a listener: server" && tcp_was "turned under a listener" 1
	echo > $KNOB
	eq "and empty again" "$(<$KNOB)" ""
	smc_serve again 5001; smc_was again 1 1
	mark end
	_app=$first
	app_end "what used SMC-R goes on: server"
}

client() {
	await up
	smc_reset
	app_bg limit:60 socket "connect:$PEER:5000" send:5 recv:5 mark:turned await:end send:5 recv:5 close
	clt here 5001 "$PEER"; on_wire here yes no no; tcp_was here 1
	clt range 5019 "$PEER"; on_wire range yes no no; tcp_was range 1
	clt six 5010 "$PEER6"; tcp_was six 1
	clt beside 5020 "$PEER"; on_wire beside yes yes yes; smc_was beside 1 1
	echo 5003 > $KNOB
	clt there 5003 "$PEER"; on_wire there no no no; tcp_was there 1
	eq "the reason is named" "$(counter policy)" 1
	echo > $KNOB
	await excluded
	smc_reset
	app "turned under a listener: client" socket "connect:$PEER:5004" send:5 recv:5 close
	tcp_was "turned under a listener" 1
	clt again 5001 "$PEER"; smc_was again 1 1
	app_end "what used SMC-R goes on"
}
