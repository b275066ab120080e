// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates the tracepoints. The includes give what their assignments look into.
 */
#include <linux/sock_diag.h>
#include "sock.h"
#include "core/cdc.h"

static u64 smcr_sock_cookie(const struct sock *sk)
{
	/* The cookie is made at the first look */
	return atomic64_read(&sk->sk_cookie);
}

#define CREATE_TRACE_POINTS
#include "trace.h"
