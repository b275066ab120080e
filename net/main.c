// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module init and exit of SMC-R (RFC 7609): all parts, in the order of their
 * dependencies.
 *
 * An AF_SMC socket behaves like a TCP socket; its data go by RDMA if both hosts
 * can do that.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "core/close.h"
#include "base/base.h"
#include "rdma/dev.h"
#include "lgr/lgr_end.h"
#include "hs/tcpopt.h"
#include "sock/sock_impl.h"
#include "ctl/nl.h"
#include "pernet.h"
#include "wire.h"

static int __init smcr_init(void)
{
	int rc;

	smcr_wire();
	smcr_close_setup();
	rc = smcr_wq_init();
	if (rc)
		return rc;
	rc = smcr_tcpopt_init();
	if (rc)
		goto err_wq;
	rc = smcr_pernet_init();
	if (rc)
		goto err_tcpopt;
	rc = smcr_dev_init();
	if (rc)
		goto err_pernet;
	rc = smcr_nl_init();
	if (rc)
		goto err_dev;
	/* last, because sockets can be created from here on */
	rc = smcr_af_init();
	if (rc == -EEXIST)
		pr_err("address family AF_SMC is already in use; unload the in-tree smc module first\n");
	if (rc)
		goto err_nl;
	return 0;

err_nl:
	smcr_nl_exit();
err_dev:
	smcr_dev_exit();
err_pernet:
	smcr_pernet_exit();
err_tcpopt:
	smcr_tcpopt_exit();
err_wq:
	smcr_wq_exit();
	rcu_barrier();
	return rc;
}

/* No socket exists: each one would have a reference on the module */
static void __exit smcr_exit(void)
{
	/* entry points: no new socket and no netlink request from here on */
	smcr_af_exit();
	smcr_nl_exit();
	/* the devices are still needed: DELETE LINK is sent to peers (LG-43) */
	smcr_lgr_kill_all();
	smcr_dev_exit();
	smcr_pernet_exit();
	smcr_tcpopt_exit();
	/* wait for works that these calls have queued, then for RCU callbacks */
	smcr_wq_exit();
	rcu_barrier();
}

module_init(smcr_init);
module_exit(smcr_exit);

MODULE_DESCRIPTION("SMC-R (RFC 7609): RDMA for TCP sockets");
MODULE_AUTHOR("The smcr developers");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
MODULE_ALIAS_NETPROTO(PF_SMC);
