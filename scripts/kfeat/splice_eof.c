// SPDX-License-Identifier: GPL-2.0-only
/* 6.5: proto_ops.splice_eof, so that data sent with MSG_MORE are not held back */
#include <linux/net.h>

static void probe_splice_eof(struct socket *sock)
{
}

const struct proto_ops probe_ops = {
	.splice_eof = probe_splice_eof,
};
