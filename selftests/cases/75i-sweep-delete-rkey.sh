# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every fault of the simulated RNIC, on either side, in DELETE RKEY of an RMB that was idle.
#
# covers: RMB-25
# timeout: 36000
# tags: sweep
# shellcheck source=selftests/prog/simsweep.sh
. "$PROG/simsweep.sh"

client() { sweep delete-rkey; }
