# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Six hundred listeners, more than there ever were workers, each with a connection to
# accept and a thread that hangs in a page fault which is never answered: in setsockopt()
# of options of the socket and of TCP, of filters, of a value that is too long, and in
# getsockopt() of options whose result or length is copied under TCP's lock. Another
# listener, an existing connection and a new one to another host take their usual time.
#
# covers: SEC-13
# timeout: 170
# tags: clc vm
# shellcheck source=selftests/prog/smc.sh
. "$PROG/smc.sh"
# shellcheck source=selftests/prog/stuck.sh
. "$PROG/stuck.sh"
# shellcheck source=selftests/prog/stuck_many.sh
. "$PROG/stuck_many.sh"

KINDS=(listen-linger listen-ipopts listen-ttl listen-filter listen-cbpf listen-getfilter listen-dstopts listen-savedsyn)

server() { stuck_many_server; }
client() { stuck_many_client; }
