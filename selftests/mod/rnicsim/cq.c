// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues. A completion can be polled at once. The interrupt comes
 * later, from a timer of the queue: in softirq, or in the hard interrupt of the
 * processor that the knob cq_cpu selects.
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "rnicsim.h"

/* Processor that gets the interrupt; -1: this one, from the timer */
static int cq_target(const struct rs_dev *dev)
{
	u32 knob = rs_get(dev, RS_K_CQ_CPU);
	int here = raw_smp_processor_id(), cpu = here;

	if (knob == RS_CPU_OTHER) {
		cpu = cpumask_next(here, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	} else if (knob >= RS_CPU_FIXED) {
		cpu = knob - RS_CPU_FIXED;
	}
	return cpu != here && cpu < nr_cpu_ids && cpu_online(cpu) ? cpu : -1;
}

static void cq_tell(struct rs_cq *cq)
{
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* On the processor that cq_target() chose, with interrupts off */
static void cq_ring(void *arg)
{
	struct rs_cq *cq = arg;

	cq_tell(cq);
	/*
	 * With smp_load_acquire() in rs_destroy_cq(), which frees @cq: nothing
	 * of it is used after this
	 */
	smp_store_release(&cq->ringing, 0);
}

static enum hrtimer_restart cq_timer(struct hrtimer *timer)
{
	struct rs_cq *cq = container_of(timer, struct rs_cq, timer);
	struct rs_dev *dev = to_rs_dev(cq->ib.device);
	unsigned long flags;
	bool tell;
	int cpu;

	spin_lock_irqsave(&cq->lock, flags);
	/* one interrupt of a queue at a time: another processor runs it */
	if (smp_load_acquire(&cq->ringing)) {
		if (!hrtimer_is_queued(timer))
			hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_USEC));
		spin_unlock_irqrestore(&cq->lock, flags);
		return HRTIMER_RESTART;
	}
	tell = cq->raised && !cq->dead;
	cq->raised = false;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (tell) {
		flags = rs_begin();
		tell = !rs_fault_lost(dev, RS_F_INTERRUPT, NULL);
		rs_end(flags);
	}
	if (!tell)
		return HRTIMER_NORESTART;
	rs_count(dev, interrupts);
	cpu = cq_target(dev);
	WRITE_ONCE(cq->ringing, cpu >= 0);
	if (cpu >= 0 && !smp_call_function_single_async(cpu, &cq->csd)) {
		rs_count(dev, elsewhere);
		return HRTIMER_NORESTART;
	}
	/* it comes here, or the chosen processor has just gone offline */
	WRITE_ONCE(cq->ringing, 0);
	cq_tell(cq);
	return HRTIMER_NORESTART;
}

static void cq_raise(struct rs_cq *cq)
{
	struct rs_dev *dev = to_rs_dev(cq->ib.device);
	u32 count = rs_get(dev, RS_K_CQ_COUNT);
	u64 delay = rs_get(dev, RS_K_CQ_DELAY) +
		    rs_random(dev, rs_get(dev, RS_K_CQ_SPREAD) + 1);

	if (cq->raised) {
		if (++cq->n_since != count)
			return;
		delay = 0;
	} else {
		cq->raised = true;
		cq->armed = 0;
		cq->n_since = 1;
		if (count == 1)
			delay = 0;
	}
	hrtimer_start(&cq->timer, ktime_add_ns(ktime_get(), delay),
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * rs_cq_add() - add a completion to a queue
 * @ibcq: queue
 * @cqe: completion, copied
 * @solicited: the sender requests an interrupt (IB_SEND_SOLICITED)
 *
 * Context: the lock of the queue pair.
 */
void rs_cq_add(struct ib_cq *ibcq, const struct rs_cqe *cqe, bool solicited)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	struct rs_dev *dev = to_rs_dev(ibcq->device);
	bool full;

	lockdep_assert_held(&cqe->qp->lock);
	spin_lock(&cq->lock);
	full = cq->head - cq->tail == cq->size;
	if (!full) {
		cq->ring[cq->head++ & cq->mask] = *cqe;
		rs_count(dev, completions);
		if (cq->raised || cq->armed == IB_CQ_NEXT_COMP ||
		    (cq->armed == IB_CQ_SOLICITED &&
		     (solicited || cqe->wc.status != IB_WC_SUCCESS)))
			cq_raise(cq);
	}
	spin_unlock(&cq->lock);
	if (full) {
		/* the completion is lost, and its owner may wait for it */
		rs_count(dev, cq_overruns);
		rs_qp_to_err(cqe->qp, BIT(IB_EVENT_QP_FATAL));
	}
}

/**
 * rs_cq_clean() - remove the completions of a queue pair
 * @ibcq: queue
 * @qp: queue pair that is reset or destroyed
 *
 * Context: the lock of the queue pair.
 */
void rs_cq_clean(struct ib_cq *ibcq, struct rs_qp *qp)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	u32 i, to;

	lockdep_assert_held(&qp->lock);
	spin_lock(&cq->lock);
	to = cq->tail;
	for (i = cq->tail; i != cq->head; i++) {
		if (cq->ring[i & cq->mask].qp != qp)
			cq->ring[to++ & cq->mask] = cq->ring[i & cq->mask];
	}
	cq->head = to;
	spin_unlock(&cq->lock);
}

int rs_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		 RS_CREATE_CQ_LAST unused)
{
	struct rs_dev *dev = to_rs_dev(ibcq->device);
	struct rs_cq *cq = to_rs_cq(ibcq);
	u32 room;
	int rc;

	might_sleep();
	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > RS_MAX_CQE ||
	    attr->comp_vector >= rs_get(dev, RS_K_VECTORS))
		return -EINVAL;
	rc = rs_fault_verb(dev, RS_F_CREATE_CQ, NULL, -ENOMEM);
	if (rc)
		return rc;
	if (atomic_inc_return(&dev->n_cqs) > rs_get(dev, RS_K_MAX_CQ))
		goto err;
	room = roundup_pow_of_two(attr->cqe);
	cq->ring = kvcalloc(room, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		goto err;
	cq->mask = room - 1;
	cq->size = attr->cqe;
	cq->head = RS_RING_START;
	cq->tail = RS_RING_START;
	ibcq->cqe = attr->cqe;
	spin_lock_init(&cq->lock);
	INIT_CSD(&cq->csd, cq_ring, cq);
	rs_hrtimer_setup(&cq->timer, cq_timer);
	return 0;

err:
	atomic_dec(&dev->n_cqs);
	return -ENOMEM;
}

int rs_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	unsigned long flags;

	might_sleep();
	spin_lock_irqsave(&cq->lock, flags);
	cq->dead = true;
	spin_unlock_irqrestore(&cq->lock, flags);
	hrtimer_cancel(&cq->timer);
	/* an interrupt on another processor ends soon: it waits for nothing */
	while (smp_load_acquire(&cq->ringing))
		cpu_relax();
	kvfree(cq->ring);
	atomic_dec(&to_rs_dev(ibcq->device)->n_cqs);
	return 0;
}

int rs_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	const struct rs_cqe *cqe;
	unsigned long flags;
	u32 *free;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->tail != cq->head; i++) {
		cqe = &cq->ring[cq->tail++ & cq->mask];
		wc[i] = cqe->wc;
		free = cqe->send ? &cqe->qp->sq_free : &cqe->qp->rq_free;
		/* with smp_load_acquire() in post_send_ok(), post_recv_one() */
		smp_store_release(free, cqe->done);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/* udelay() is not exact, but in virtual time nothing else takes time */
static void cq_spend(u32 ns)
{
	ktime_t until = ktime_add_ns(ktime_get(), ns);

	while (ktime_before(ktime_get(), until))
		udelay(5);
}

int rs_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	u32 arm = rs_get(to_rs_dev(ibcq->device), RS_K_CQ_ARM);
	unsigned long flags;
	int rc = 0;

	if (arm)
		cq_spend(arm);
	spin_lock_irqsave(&cq->lock, flags);
	/* NEXT_COMP includes solicited completions; both bits mean NEXT_COMP */
	if (notify & IB_CQ_NEXT_COMP)
		cq->armed = IB_CQ_NEXT_COMP;
	else if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = notify & IB_CQ_SOLICITED_MASK;
	if (notify & IB_CQ_REPORT_MISSED_EVENTS)
		rc = cq->tail != cq->head;
	spin_unlock_irqrestore(&cq->lock, flags);
	return rc;
}
