// SPDX-License-Identifier: GPL-2.0-only
/* 6.19: proto_ops.connect and .bind take a struct sockaddr_unsized */
#include <linux/net.h>
#include <net/sock.h>

static int probe_connect(struct socket *sock, struct sockaddr_unsized *addr,
			 int len, int flags)
{
	return kernel_connect(sock, addr, len, flags);
}

const struct proto_ops probe_ops = {
	.connect = probe_connect,
};
