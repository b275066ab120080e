// SPDX-License-Identifier: GPL-2.0-only
/* 6.6, a5ef058dc4d9: proto_ops.setsockopt of a socket can get SOL_SOCKET */
#include <linux/net.h>
#include <net/sock.h>

void probe(struct socket *sock);
void probe(struct socket *sock)
{
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
}
