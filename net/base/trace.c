// SPDX-License-Identifier: GPL-2.0-only
/*
 * Definition of the tracepoints. The includes declare what the assignments of
 * the tracepoints read.
 */
#include <linux/sock_diag.h>
#include "base/base.h"

/* Number of the socket in netlink and SO_COOKIE; the first use creates it */
static u64 smcr_sock_cookie(const struct sock *sk)
{
	u32 cookie[2];

	sock_diag_save_cookie((struct sock *)sk, cookie);
	return (u64)cookie[1] << 32 | cookie[0];
}

#define CREATE_TRACE_POINTS
#include "base/trace.h"
