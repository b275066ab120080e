// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and end of the workqueues. The purpose of each is in base.h.
 */
#include <linux/workqueue.h>
#include "base/base.h"

/*
 * max_active of the queues whose works may sleep long. What these works can
 * wait for, and how long, is listed in Documentation/architecture.rst.
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
 * Some queues may be missing, after a failure of smcr_wq_init(). Only works on
 * these queues may still queue works.
 * Context: process, sleeps.
 */
void smcr_wq_exit(void)
{
	/*
	 * smcr_wq and smcr_end_wq come last: works of the other four queues may
	 * still add works to them, and those of smcr_wq to smcr_end_wq.
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
 * work, and the reference of its caller would be lost. So this function allows
 * that the work is queued meanwhile, for example by itself, and cancels it
 * again.
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
 * has data warm in the cache of the CPU that queued it. WQ_MEM_RECLAIM would
 * promise that the works need no memory to go on, but works that set up and
 * tear down QPs do; and it forbids to wait for works on queues without the
 * flag.
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
