# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every fault of the simulated RNIC, on either side, in CONFIRM RKEY, for a connection that needs a new RMB.
#
# covers: LLC-63 RMB-11
# timeout: 36000
# tags: sweep
# shellcheck source=selftests/prog/simsweep.sh
. "$PROG/simsweep.sh"

client() { sweep confirm-rkey; }
