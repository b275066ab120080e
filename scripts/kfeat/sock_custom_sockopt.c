// SPDX-License-Identifier: GPL-2.0-only
/* 6.6, a5ef058dc4d9: a socket can ask for SOL_SOCKET in proto_ops.setsockopt */
#include <linux/net.h>
#include <net/sock.h>

void probe(struct socket *sock);
void probe(struct socket *sock)
{
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
}
