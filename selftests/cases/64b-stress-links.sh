# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# 64 connections with data in both directions, two links, and RNICs of either host that are lost
# in all ways and return: no error, no wrong byte, no stall beyond two seconds after the loss is
# noticed (RFC 7609 4.6).
#
# covers: FO-01 FO-18 FO-24
# nics: 2/2
# timeout: 900
# tags: lgr links stress storm
# shellcheck source=selftests/prog/linkstorm.sh
. "$PROG/linkstorm.sh"

server() { storm 2 18; }
client() { storm 2 18; }
