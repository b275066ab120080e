// SPDX-License-Identifier: GPL-2.0-only
/* Canary: a callback with a wrong signature must not compile. */
#include <linux/net.h>

static int probe_release(char *sock)
{
	return 0;
}

const struct proto_ops probe_ops = {
	.release = probe_release,
};
