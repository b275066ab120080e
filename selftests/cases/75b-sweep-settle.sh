# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every fault of the simulated RNIC, on either side, in the second half of a first contact: the ADD LINK exchange.
#
# covers: CLC-57 CLC-58 CLC-63
# timeout: 36000
# tags: sweep
# shellcheck source=selftests/prog/simsweep.sh
. "$PROG/simsweep.sh"

client() { sweep settle; }
