# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As 64b, with one RNIC on the client: both links are on it.
#
# covers: FO-17 FO-18
# nics: 2/1
# timeout: 900
# tags: lgr links stress storm
# shellcheck source=selftests/prog/linkstorm.sh
. "$PROG/linkstorm.sh"

server() { storm 2 9; }
client() { storm 2 9; }
