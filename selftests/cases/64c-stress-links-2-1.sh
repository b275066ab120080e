# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As 64b, with one RNIC on the client: both links are on it.
#
# nics: 2/1
# timeout: 400
# tags: lgr links stress
# shellcheck source=selftests/prog/linkstorm.sh
. "$PROG/linkstorm.sh"

server() { storm $((9 / DEAR)) 2; }
client() { storm $((9 / DEAR)) 2; }
