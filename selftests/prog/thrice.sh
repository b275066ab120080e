# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The same program over TCP, SMC-R and a fallback, one after the other: . "$PROG/thrice.sh", after smc.sh
#
#	thrice_serve ACCEPTS	ACCEPTS NAME PORT [smc] for each; it marks NAME when it listens
#	thrice_use N CONNECTS	CONNECTS NAME PORT [smc] for each; N connections of it used SMC-R
thrice_serve() {
	"$1" TCP 5000
	"$1" SMC-R 5001 smc
	await SMC-R.over
	echo 0 > /proc/sys/net/smcr/enabled
	"$1" fallback 5002 smc
}
thrice_use() {
	smc_reset
	await TCP
	"$2" TCP 5000
	await SMC-R 30
	"$2" SMC-R 5001 smc
	smc_was client "$1" "$1"
	mark SMC-R.over
	await fallback 30
	"$2" fallback 5002 smc
}
