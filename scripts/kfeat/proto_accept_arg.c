// SPDX-License-Identifier: GPL-2.0-only
/* 6.10, 92ef0fd55ac8: proto_ops.accept takes a struct proto_accept_arg */
#include <linux/net.h>
#include <net/sock.h>

static int probe_accept(struct socket *sock, struct socket *newsock,
			struct proto_accept_arg *arg)
{
	return arg->flags + arg->kern;
}

const struct proto_ops probe_ops = {
	.accept = probe_accept,
};
