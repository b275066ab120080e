// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates the tracepoints. The includes give what their assignments look into.
 */
#include <linux/sock_diag.h>
#include "base/base.h"

/* The same number that netlink and SO_COOKIE give; made at the first look */
static u64 smcr_sock_cookie(const struct sock *sk)
{
	u32 cookie[2];

	sock_diag_save_cookie((struct sock *)sk, cookie);
	return (u64)cookie[1] << 32 | cookie[0];
}

#define CREATE_TRACE_POINTS
#include "base/trace.h"
