// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lookup of the module's state in a network namespace.
 */
#include <net/netns/generic.h>
#include "base/netns.h"

unsigned int smcr_net_id __read_mostly;
int smcr_max_mem_host __read_mostly;

/**
 * smcr_net() - state of the module in a network namespace
 * @net: namespace
 *
 * Context: any, while the module is loaded and @net is alive.
 * Return: never NULL.
 */
struct smcr_net *smcr_net(const struct net *net)
{
	return net_generic(net, smcr_net_id);
}
