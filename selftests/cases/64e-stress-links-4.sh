# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As 64b, with four links.
#
# nics: 4/4
# timeout: 400
# tags: lgr links stress
# shellcheck source=selftests/prog/linkstorm.sh
. "$PROG/linkstorm.sh"

server() { storm $((9 / DEAR)) 4; }
client() { storm $((9 / DEAR)) 4; }
