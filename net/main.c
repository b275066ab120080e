// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC-R (RFC 7609): TCP sockets whose data go by RDMA where both ends can.
 *
 * Everything the module starts and stops, in this order.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "base.h"
#include "dev.h"
#include "lgr.h"
#include "nl.h"
#include "pernet.h"
#include "sock.h"
#include "tcpopt.h"

/*
 * Works that may sleep long, at the same time on each of the queues whose works
 * do. What they can wait for, and how long, is listed in
 * Documentation/architecture.rst.
 */
#define SMCR_ACTIVE	512

struct workqueue_struct *smcr_hs_wq;
struct workqueue_struct *smcr_srv_wq;
struct workqueue_struct *smcr_rmb_wq;
struct workqueue_struct *smcr_sock_wq;
struct workqueue_struct *smcr_wq;
struct workqueue_struct *smcr_end_wq;

static void smcr_wq_destroy(struct workqueue_struct **wq)
{
	if (*wq)
		destroy_workqueue(*wq);
	*wq = NULL;
}

static void smcr_wq_exit(void)
{
	/* Negotiations and connections leave work to smcr_wq, all to the last */
	smcr_wq_destroy(&smcr_hs_wq);
	smcr_wq_destroy(&smcr_srv_wq);
	smcr_wq_destroy(&smcr_sock_wq);
	smcr_wq_destroy(&smcr_rmb_wq);
	smcr_wq_destroy(&smcr_wq);
	smcr_wq_destroy(&smcr_end_wq);
}

/*
 * All are unbound: their works sleep in verbs, in TCP and in waits, and none
 * has data warm in the cache of the CPU that queued it. WQ_MEM_RECLAIM would
 * promise that the works need no memory to go on, but tearing down and setting
 * up QPs does, and it forbids to wait for works on queues without it.
 */
static int __init smcr_wq_init(void)
{
	smcr_hs_wq = alloc_workqueue("smcr_hs", WQ_UNBOUND, 0);
	smcr_srv_wq = alloc_workqueue("smcr_srv", WQ_UNBOUND, 0);
	smcr_sock_wq = alloc_workqueue("smcr_sock", WQ_UNBOUND, SMCR_ACTIVE);
	smcr_rmb_wq = alloc_workqueue("smcr_rmb", WQ_UNBOUND, SMCR_ACTIVE);
	smcr_wq = alloc_workqueue("smcr", WQ_UNBOUND, 0);
	smcr_end_wq = alloc_workqueue("smcr_end", WQ_UNBOUND, 0);
	if (smcr_hs_wq && smcr_srv_wq && smcr_sock_wq && smcr_rmb_wq &&
	    smcr_wq && smcr_end_wq)
		return 0;
	smcr_wq_exit();
	return -ENOMEM;
}

static int __init smcr_init(void)
{
	int rc;

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
	/* Last: from here on there can be sockets */
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

/* No socket exists: each of them holds the module */
static void __exit smcr_exit(void)
{
	/* Entry points: nobody comes in any more */
	smcr_af_exit();
	smcr_nl_exit();
	/* Link groups: the peers are told (LG-43) while there still is a device */
	smcr_lgr_kill_all();
	smcr_dev_exit();
	smcr_pernet_exit();
	smcr_tcpopt_exit();
	/* What the above left to the workqueues, and then to RCU */
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
