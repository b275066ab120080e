# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every fault of the simulated RNIC, on either side, in the first contact of two hosts.
#
# covers: CLC-53 CLC-60 CLC-63
# timeout: 36000
# tags: sweep
# shellcheck source=selftests/prog/simsweep.sh
. "$PROG/simsweep.sh"

client() { sweep first; }
