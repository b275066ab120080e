// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: registration of the family.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include "ctl/nl.h"

static struct genl_family smcr_nl_family __ro_after_init = {
	.name		= SMCR_GENL_NAME,
	.version	= SMCR_GENL_VERSION,
	.maxattr	= ARRAY_SIZE(smcr_nl_policy) - 1,
	.policy		= smcr_nl_policy,
	.small_ops	= smcr_nl_ops,
	.n_small_ops	= ARRAY_SIZE(smcr_nl_ops),
	.mcgrps		= smcr_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(smcr_nl_mcgrps),
	.resv_start_op	= SMCR_CMD_MAX + 1,
	.netnsok	= true,
	.parallel_ops	= true,		/* nothing here needs genl's mutex */
	.module		= THIS_MODULE,
};

/**
 * smcr_nl_init() - register the family and enable events
 *
 * Return: 0 or -errno.
 */
int __init smcr_nl_init(void)
{
	int rc;

	smcr_nl_fam = &smcr_nl_family;
	rc = genl_register_family(&smcr_nl_family);
	if (!rc)
		smcr_nl_event_start();
	return rc;
}

/**
 * smcr_nl_exit() - disable events and unregister the family
 *
 * On return no request runs. Later events of groups are not sent.
 *
 * Context: process, sleeps.
 */
void smcr_nl_exit(void)
{
	smcr_nl_event_stop();
	genl_unregister_family(&smcr_nl_family);
}
