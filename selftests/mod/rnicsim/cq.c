// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues. A completion can be polled at once; the interrupt behind
 * it comes later, from a timer of the queue, in softirq.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "rnicsim.h"

static enum hrtimer_restart cq_timer(struct hrtimer *timer)
{
	struct rs_cq *cq = container_of(timer, struct rs_cq, timer);
	struct rs_dev *dev = to_rs_dev(cq->ib.device);
	unsigned long flags;
	bool tell;

	spin_lock_irqsave(&rs_lock, flags);
	tell = cq->raised && !cq->dead;
	cq->raised = false;
	if (tell && rs_fault_lost(dev, RS_F_INTERRUPT, NULL))
		tell = false;
	if (tell)
		dev->stats.interrupts++;
	spin_unlock_irqrestore(&rs_lock, flags);

	if (tell && cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
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
 * rs_cq_add() - a completion
 * @ibcq: queue
 * @cqe: completion, copied
 * @solicited: the peer asked for an interrupt
 *
 * Context: rs_lock.
 */
void rs_cq_add(struct ib_cq *ibcq, const struct rs_cqe *cqe, bool solicited)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	struct rs_dev *dev = to_rs_dev(ibcq->device);

	lockdep_assert_held(&rs_lock);
	if (cq->head - cq->tail == cq->size) {
		/* whoever waits for it would wait for ever */
		dev->stats.cq_overruns++;
		rs_qp_to_err(cqe->qp, BIT(IB_EVENT_QP_FATAL));
		return;
	}
	cq->ring[cq->head++ & cq->mask] = *cqe;
	dev->stats.completions++;
	if (cq->raised || cq->armed == IB_CQ_NEXT_COMP ||
	    (cq->armed == IB_CQ_SOLICITED &&
	     (solicited || cqe->wc.status != IB_WC_SUCCESS)))
		cq_raise(cq);
}

/**
 * rs_cq_clean() - forget the completions of a queue pair
 * @ibcq: queue
 * @qp: queue pair that is reset or destroyed
 *
 * Context: rs_lock.
 */
void rs_cq_clean(struct ib_cq *ibcq, struct rs_qp *qp)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	u32 i, to = cq->tail;

	lockdep_assert_held(&rs_lock);
	for (i = cq->tail; i != cq->head; i++) {
		if (cq->ring[i & cq->mask].qp != qp)
			cq->ring[to++ & cq->mask] = cq->ring[i & cq->mask];
	}
	cq->head = to;
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
	spin_lock_irqsave(&rs_lock, flags);
	cq->dead = true;
	spin_unlock_irqrestore(&rs_lock, flags);
	hrtimer_cancel(&cq->timer);
	kvfree(cq->ring);
	atomic_dec(&to_rs_dev(ibcq->device)->n_cqs);
	return 0;
}

int rs_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	const struct rs_cqe *cqe;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&rs_lock, flags);
	for (i = 0; i < n && cq->tail != cq->head; i++) {
		cqe = &cq->ring[cq->tail++ & cq->mask];
		wc[i] = cqe->wc;
		if (cqe->send)
			cqe->qp->sq_free = cqe->done;
		else
			cqe->qp->rq_free = cqe->done;
	}
	spin_unlock_irqrestore(&rs_lock, flags);
	return i;
}

int rs_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct rs_cq *cq = to_rs_cq(ibcq);
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&rs_lock, flags);
	/* a request for the next one includes the solicited ones; both bits are one */
	if (notify & IB_CQ_NEXT_COMP)
		cq->armed = IB_CQ_NEXT_COMP;
	else if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = notify & IB_CQ_SOLICITED_MASK;
	if (notify & IB_CQ_REPORT_MISSED_EVENTS)
		rc = cq->tail != cq->head;
	spin_unlock_irqrestore(&rs_lock, flags);
	return rc;
}
