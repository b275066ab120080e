# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every fault of the simulated RNIC, on either side, in TEST LINK on an idle link.
#
# covers: KA-04 LLC-72
# timeout: 36000
# tags: sweep
# shellcheck source=selftests/prog/simsweep.sh
. "$PROG/simsweep.sh"

client() { sweep test-link; }
