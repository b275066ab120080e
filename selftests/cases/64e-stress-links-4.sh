# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As 64b, with four links.
#
# covers: FO-18 FO-24 LG-49
# nics: 4/4
# timeout: 900
# tags: lgr links stress storm
# shellcheck source=selftests/prog/linkstorm.sh
. "$PROG/linkstorm.sh"

server() { storm 4 9; }
client() { storm 4 9; }
