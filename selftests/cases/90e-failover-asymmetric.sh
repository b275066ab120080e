# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The client has two cards, the server one: a symmetric and an asymmetric link. Either
# is lost under full load, by its path or with the client's card: all goes on over the
# other one, and so do new connections.
#
# covers: FO-17 LG-20 LG-48
# nics: 1/2
# timeout: 120
# tags: lgr links failover
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/nicfaults.sh
. "$PROG/nicfaults.sh"
# shellcheck source=selftests/prog/failover.sh
. "$PROG/failover.sh"

both() {
	at_once max_links=2
	each_left client
}
server() { both; }
client() { both; }
