// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and end of the workqueues. The purpose of each is in base.h.
 */
#include <linux/workqueue.h>
#include "base/base.h"

/*
 * max_active of queues whose works may sleep for a long time. For each queue,
 * Documentation/architecture.rst lists what its works wait for, and how long.
 */
#define SMCR_ACTIVE	512

struct workqueue_struct *smcr_hs_wq;
struct workqueue_struct *smcr_srv_wq;
struct workqueue_struct *smcr_rmb_wq;
struct workqueue_struct *smcr_sock_wq;
struct workqueue_struct *smcr_wq;
struct workqueue_struct *smcr_end_wq;

static void wq_destroy(struct workqueue_struct **wq)
{
	if (*wq)
		destroy_workqueue(*wq);
	*wq = NULL;
}

/**
 * smcr_wq_exit() - drain and destroy the workqueues
 *
 * Some queues are missing if smcr_wq_init() has failed. During the call, only
 * works on these queues may queue further works.
 * Context: process, sleeps.
 */
void smcr_wq_exit(void)
{
	/*
	 * smcr_wq and smcr_end_wq come last, because works on the other four
	 * queues may add works to them, and works on smcr_wq to smcr_end_wq.
	 */
	wq_destroy(&smcr_hs_wq);
	wq_destroy(&smcr_srv_wq);
	wq_destroy(&smcr_sock_wq);
	wq_destroy(&smcr_rmb_wq);
	wq_destroy(&smcr_wq);
	wq_destroy(&smcr_end_wq);
}

/**
 * smcr_work_end() - cancel a delayed work and wait for its end
 * @work: work that has a reference on its owner while it is queued: the caller
 *	of mod_delayed_work() takes a reference first, and puts it if
 *	mod_delayed_work() returns true
 *
 * cancel_delayed_work_sync() forbids queueing while it waits (since 6.10). In
 * that time mod_delayed_work() returns false although it has not queued the
 * work, and the reference of its caller would be lost. So this function does
 * not forbid queueing. If the work is queued again during the call, for example
 * by itself, it is canceled again.
 *
 * Context: process, sleeps.
 * Return: number of references that the caller has to put.
 */
unsigned int smcr_work_end(struct delayed_work *work)
{
	unsigned int n = 0;
	bool again;

	do {
		again = cancel_delayed_work(work);
		n += again;
		again |= flush_work(&work->work);
	} while (again);
	return n;
}

/**
 * smcr_wq_init() - make the workqueues
 *
 * All are unbound: their works sleep in verbs, in TCP and in waits, and none
 * has data warm in the cache of the CPU that queued it. No queue has
 * WQ_MEM_RECLAIM: works on such a queue must need no memory to go on, but works
 * that set up or tear down QPs do. Nor may works on such a queue wait for works
 * on queues without the flag.
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int __init smcr_wq_init(void)
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
