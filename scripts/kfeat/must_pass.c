// SPDX-License-Identifier: GPL-2.0-only
/* Canary: must compile on every kernel. Includes all headers that the probes include. */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <rdma/ib_verbs.h>

static int probe_release(struct socket *sock)
{
	return 0;
}

const struct proto_ops probe_ops = {
	.release = probe_release,
};
