// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setup and release of the module's state in each network namespace.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <net/net_namespace.h>
#include "base/netns.h"
#include "rdma/dev.h"
#include "lgr/lgr_end.h"
#include "hs/tcpopt.h"
#include "ctl/sysctl.h"
#include "pernet.h"

static const struct smcr_knobs smcr_knobs_default = {
#define X(member, attr, def, lo, hi, hi_ns) .member = (def),
	SMCR_KNOBS(X)
#undef X
};

/*
 * By default the buffers of all namespaces together may take a quarter of the
 * host's memory. The buffers of one namespace may take a quarter of this
 * quarter, except in the initial namespace.
 */
#define SMCR_MEM_SHARE	4
#define SMCR_MEM_MIN	1024		/* KiB; least default of both knobs */

static int __net_init smcr_net_init(struct net *net)
{
	struct smcr_net *sn = smcr_net(net);
	int rc;

	sn->net = net;
	sn->instance = smcr_peer_instance();
	sn->knobs = smcr_knobs_default;
	sn->mem_cap = net_eq(net, &init_net) ? INT_MAX :
		      max(READ_ONCE(smcr_max_mem_host) / SMCR_MEM_SHARE,
			  SMCR_MEM_MIN);
	sn->knobs.max_mem = min(sn->mem_cap, READ_ONCE(smcr_max_mem_host));
	spin_lock_init(&sn->sk_lock);
	INIT_LIST_HEAD(&sn->orphans);
	smcr_ids_init(&sn->socks);
	spin_lock_init(&sn->lgr_lock);
	INIT_LIST_HEAD(&sn->lgr_list);
	INIT_LIST_HEAD(&sn->lgr_forming);
	INIT_LIST_HEAD(&sn->lgr_idle);
	smcr_ids_init(&sn->lgrs);
	hash_init(sn->lgr_hash);
	init_waitqueue_head(&sn->lgr_wait);
	atomic_set(&sn->n_handshakes, 0);
	atomic_set(&sn->n_first, 0);

	sn->stats = alloc_percpu(struct smcr_stats);
	if (!sn->stats)
		return -ENOMEM;
	rc = -ENOMEM;
	sn->excluded_ports = bitmap_zalloc(SMCR_PORTS, GFP_KERNEL);
	if (!sn->excluded_ports)
		goto err_stats;
	rc = smcr_sysctl_register(sn);
	if (rc)
		goto err_ports;
	rc = smcr_tcpopt_net_init(net);
	if (rc)
		goto err_sysctl;
	return 0;

err_sysctl:
	smcr_sysctl_unregister(sn);
err_ports:
	bitmap_free(sn->excluded_ports);
err_stats:
	free_percpu(sn->stats);
	return rc;
}

/* An RCU grace period passes between this function and net_exit() */
static void __net_exit net_pre_exit(struct net *net)
{
	smcr_tcpopt_net_exit(net);
	/*
	 * before the .exit functions of all subsystems: one that removes
	 * devices waits for the end of their link groups
	 */
	smcr_lgr_kill_net_start(smcr_net(net));
}

/*
 * No socket is left: each has a reference on its namespace and on the module.
 * Link groups without a connection may be left, with queued work. They use
 * counters and knobs, so they have to end before these are freed.
 */
static void __net_exit net_exit(struct net *net)
{
	struct smcr_net *sn = smcr_net(net);

	smcr_lgr_kill_net(sn);
	smcr_sysctl_unregister(sn);
	WARN_ON_ONCE(!RB_EMPTY_ROOT(&sn->socks.root));
	WARN_ON_ONCE(atomic_read(&sn->n_handshakes));
	WARN_ON_ONCE(atomic_read(&sn->n_first));
	bitmap_free(sn->excluded_ports);
	free_percpu(sn->stats);
}

static struct pernet_operations smcr_net_ops = {
	.init		= smcr_net_init,
	.pre_exit	= net_pre_exit,
	.exit		= net_exit,
	.id		= &smcr_net_id,
	.size		= sizeof(struct smcr_net),
};

/**
 * smcr_pernet_init() - set up the module's state in every namespace
 *
 * Context: process, may sleep.
 * Return: 0 or -errno.
 */
int __init smcr_pernet_init(void)
{
	smcr_peer_id_init();
	smcr_max_mem_host = clamp_t(u64, ((u64)totalram_pages() <<
					  (PAGE_SHIFT - 10)) / SMCR_MEM_SHARE,
				    SMCR_MEM_MIN, INT_MAX);
	return register_pernet_subsys(&smcr_net_ops);
}

/**
 * smcr_pernet_exit() - undo smcr_pernet_init()
 *
 * Context: process, may sleep. Returns when all link groups are freed.
 */
void smcr_pernet_exit(void)
{
	unregister_pernet_subsys(&smcr_net_ops);
}
