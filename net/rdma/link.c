// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links: creation, stop, references and the reclaim list.
 *
 * Completion handlers run in softirq, or in a worker on a software device. Each
 * link has a completion queue of its own, so its handlers run one at a time.
 *
 * The link itself records the state of the queue pair. A device is never
 * queried for it, as rxe of Linux 6.1 cannot report it. No error of the queue
 * pair is missed: an error flushes the receives, of which some are always
 * outstanding.
 */
#include <linux/irq_poll.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "base/netns.h"
#include "rdma/buf.h"
#include "rdma/link.h"
#include "rdma/link_impl.h"

static int link_alloc_arrays(struct smcr_link *link)
{
	link->pends = kvcalloc(SMCR_SQ_DEPTH, sizeof(*link->pends),
			       GFP_KERNEL);
	link->rx_wrs = kvcalloc(SMCR_RQ_DEPTH, sizeof(*link->rx_wrs),
				GFP_KERNEL);
	if (!link->pends || !link->rx_wrs)
		return -ENOMEM;
	smcr_link_init_sq(link);
	return 0;
}

static int link_alloc_buf(struct smcr_buf **buf,
			  const struct smcr_buf_params *mem, u32 size,
			  enum dma_data_direction dir)
{
	int rc;

	*buf = smcr_buf_alloc(mem, size, dir);
	rc = PTR_ERR_OR_ZERO(*buf);
	if (rc)
		*buf = NULL;
	return rc;
}

static struct smcr_link *link_alloc(const struct smcr_link_params *owner,
				    const struct smcr_port_id *pid,
				    struct ib_pd *pd)
{
	struct smcr_link *link;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return NULL;
	refcount_set(&link->refs, 1);
	link->lgr = owner->lgr;
	link->slot = owner->slot;
	link->msg_len = owner->msg_len;
	link->sn = owner->mem->sn;
	link->mem = *owner->mem;
	link->mem.ibdev = pid->dev->ibdev;
	link->mem.d = owner->d;
	link->lgr_id = owner->lgr_id;
	memcpy(link->peer_id, owner->peer_id, sizeof(link->peer_id));
	link->pid = *pid;
	link->pd = pd;
	link->lkey = pd->local_dma_lkey;
	link->psn = get_random_u32() & 0xffffff;
	mutex_init(&link->verbs);
	spin_lock_init(&link->lock);
	INIT_LIST_HEAD(&link->waiters);
	init_waitqueue_head(&link->drain_wait);
	link->last_rx = jiffies;
	link->last_tx = link->last_rx;
	smcr_dev_hold(pid->dev);
	return link;
}

static int link_setup(struct smcr_link *link)
{
	const struct smcr_buf_params *mem = &link->mem;
	int rc;

	rc = link_alloc_arrays(link);
	if (!rc)
		rc = link_alloc_buf(&link->rx_buf, mem,
				    SMCR_RQ_DEPTH * SMCR_RX_LEN,
				    DMA_FROM_DEVICE);
	if (!rc)
		rc = smcr_link_create_qp(link);
	if (!rc && link->max_inline < link->msg_len)
		rc = link_alloc_buf(&link->tx_buf, mem,
				    SMCR_SQ_DEPTH * SMCR_TX_SLOT,
				    DMA_TO_DEVICE);
	if (!rc)
		rc = smcr_link_to_init(link);
	if (!rc)
		rc = smcr_link_init_rq(link);
	return rc;
}

static bool link_drained(const struct smcr_link *link)
{
	return !atomic_read(&link->n_pend) && !atomic_read(&link->n_rx);
}

/*
 * Limit of the wait for flushes, in jiffies: half of T_LLC (net.smcr.t_llc),
 * within bounds. During this wait the peer may be waiting for a reply, which it
 * does for T_LLC at most (LLC-50).
 */
static unsigned long link_flush_time(const struct smcr_link *link)
{
	return clamp(smcr_knob_jiffies(link->sn, t_llc) / 2, 2UL * HZ, 5UL * HZ);
}

/*
 * Log the failure of a link. This is done when the link stops, as
 * smcr_link_fail() may be called under a connection's lock, and a console is
 * slow.
 */
static void link_log_failed(struct smcr_link *link)
{
	enum smcr_reason why = READ_ONCE(link->why);

	if (why != SMCR_R_NONE)
		net_info_ratelimited("link group %u, peer %*phN: link %u failed: %s\n",
				     link->lgr_id, (int)sizeof(link->peer_id),
				     link->peer_id, READ_ONCE(link->num),
				     smcr_reason_name(why));
}

/*
 * Wait until the RDMA core's handler of the completion queue has returned. Its mark
 * "scheduled" is set then, and stays set, so nothing starts the handler again. In softirq,
 * the handler clears this mark before it requests the next interrupt, so the mark alone does
 * not say that it has returned. In a workqueue the mark is PENDING: cancel_work_sync() takes
 * a work off the queue, and an event may queue it again before this function has set PENDING.
 * (Linux 6.1 has no disable_work_sync().) A queue whose mark is set must not be stopped again
 * or freed: both would wait for the mark.
 */
static void link_stop_cq(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_disable(&cq->iop);
		synchronize_rcu();
		return;
	}
	while (test_and_set_bit(WORK_STRUCT_PENDING_BIT,
				work_data_bits(&cq->work)))
		cancel_work_sync(&cq->work);
	flush_work(&cq->work);
}

/*
 * Free the completion queue, whose queue pair is destroyed. ib_free_cq() sets the mark of
 * link_stop_cq() itself; until then, IRQ_POLL_F_DISABLE keeps a late interrupt from starting
 * the handler.
 */
static void link_free_cq(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		link_stop_cq(cq);
		set_bit(IRQ_POLL_F_DISABLE, &cq->iop.state);
		irq_poll_enable(&cq->iop);
	}
	ib_free_cq(cq);
}

/*
 * Keep the memory of a link whose queue pair the device has not destroyed: the device may
 * still receive into this memory, and still read what a WRITE sends. Completions are not
 * looked at any more, as their handlers belong to this module, which may be removed.
 */
static void link_orphan(struct smcr_link *link)
{
	smcr_link_keep(link, link->qp);
	link_stop_cq(link->cq);
	spin_lock_bh(&link->lock);
	if (!READ_ONCE(link->drained) && link->posted != link->completed)
		WRITE_ONCE(link->may_read, true);
	spin_unlock_bh(&link->lock);
}

static void link_do_stop(struct smcr_link *link)
{
	lockdep_assert_held(&link->verbs);
	smcr_link_modify_err(link);
	if (!wait_event_timeout(link->drain_wait, link_drained(link),
				link_flush_time(link)))
		net_warn_ratelimited("link group %u: device %s did not flush %d sends, %d receives\n",
				     link->lgr_id,
				     smcr_dev_name(link->pid.dev).s,
				     atomic_read(&link->n_pend),
				     atomic_read(&link->n_rx));
	if (link->qp && ib_destroy_qp(link->qp))
		link_orphan(link);
	else if (link->cq)
		link_free_cq(link->cq);
	smcr_link_abandon(link);
	link_log_failed(link);
}

/**
 * smcr_link_stop() - end all traffic of a link
 * @link: link
 *
 * All requests are flushed, QP and CQ are destroyed, and @done of every work
 * request that never completed is called with ok false. The wait for flushes
 * is bounded: the QP is destroyed even if the device has not flushed it. After
 * the return no completion handler calls @done or struct smcr_link_ops any more,
 * even if the device fails to destroy the QP. Further calls of this function
 * have no effect.
 *
 * Context: process, sleeps for half of T_LLC at most (2 to 5 s).
 * Return: true for the call that has stopped the link, false for all others.
 */
bool smcr_link_stop(struct smcr_link *link)
{
	bool first;

	mutex_lock(&link->verbs);
	first = !link->stopped;
	if (first) {
		link_do_stop(link);
		/*
		 * Pairs with smcr_link_silent(): without the release, a reader
		 * that finds the link stopped could miss may_read.
		 */
		smp_store_release(&link->stopped, true);
	}
	mutex_unlock(&link->verbs);
	return first;
}

/**
 * smcr_link_hold() - take a reference on a link
 * @link: link that the caller has a reference on, or that a lock keeps from
 *	being freed
 *
 * The reference keeps the memory of the link and its device, but not the queue
 * pair, which smcr_link_stop() destroys. A caller that holds a link holds its
 * group, too, and puts the link before the group.
 *
 * Context: any.
 */
void smcr_link_hold(struct smcr_link *link)
{
	refcount_inc(&link->refs);
}

/* False: the memory is kept, as the device has not destroyed a queue pair */
static bool link_free(struct smcr_link *link)
{
	struct smcr_buf *buf;

	smcr_link_stop(link);
	if (link->orphan) {
		smcr_dev_put(link->pid.dev);
		return false;
	}
	while ((buf = link->reclaim)) {
		link->reclaim = buf->reclaim_next;
		smcr_buf_free(buf);
	}
	if (link->probe_cq)
		ib_free_cq(link->probe_cq);
	smcr_buf_free(link->rx_buf);
	smcr_buf_free(link->tx_buf);
	kvfree(link->rx_wrs);
	kvfree(link->pends);
	smcr_dev_put(link->pid.dev);
	kfree(link);
	return true;
}

/**
 * smcr_link_create() - create a link with QP, CQ and receives, in state INIT
 * @owner: group and arguments
 * @pid: device, port, GID; a device reference is taken
 * @pd: protection domain of the group on that device
 *
 * On failure @freed of struct smcr_link_ops is called, as at the end of a link.
 *
 * Context: process, sleeps.
 * Return: link with one reference, for smcr_link_stop() and smcr_link_put(), or
 * ERR_PTR().
 */
struct smcr_link *smcr_link_create(const struct smcr_link_params *owner,
				   const struct smcr_port_id *pid,
				   struct ib_pd *pd)
{
	struct smcr_link *link;
	bool orphan = false;
	int rc = -ENOMEM;

	link = link_alloc(owner, pid, pd);
	if (link)
		rc = link_setup(link);
	if (!rc)
		return link;
	if (link)
		orphan = !link_free(link);
	smcr_link_owner_ops->freed(owner->lgr, owner->d, orphan);
	return ERR_PTR(rc);
}

/**
 * smcr_link_put() - put a reference on a link
 * @link: link or NULL. The last put stops the link, if it was not stopped yet,
 *	and frees it
 *
 * The memory is freed before this function returns, while the caller still
 * holds the group. The group in turn is freed before the namespace, so the
 * namespace that the memory counts against still exists.
 *
 * Context: process, sleeps.
 */
void smcr_link_put(struct smcr_link *link)
{
	struct smcr_lgr *lgr;
	u8 d;

	might_sleep();
	if (!link || !refcount_dec_and_test(&link->refs))
		return;
	lgr = link->lgr;
	d = link->mem.d;
	smcr_link_owner_ops->freed(lgr, d, !link_free(link));
}

/**
 * smcr_link_lend_buf() - keep a send buffer until the QP is destroyed
 * @link: link; the caller has a reference
 * @buf: buffer or NULL, mapped for the device of the link only
 *
 * Context: any.
 */
void smcr_link_lend_buf(struct smcr_link *link, struct smcr_buf *buf)
{
	if (!buf)
		return;
	spin_lock_bh(&link->lock);
	buf->reclaim_next = link->reclaim;
	link->reclaim = buf;
	spin_unlock_bh(&link->lock);
}

/**
 * smcr_link_reclaim_buf() - smcr_link_lend_buf() for a connection that has ended, and count
 * @link: link; the caller has a reference
 * @buf: buffer or NULL, mapped for the device of the link only
 *
 * Context: any.
 * Return: number of buffers that this function has put on the reclaim list.
 */
unsigned int smcr_link_reclaim_buf(struct smcr_link *link, struct smcr_buf *buf)
{
	if (!buf)
		return atomic_read(&link->n_reclaim);
	smcr_link_lend_buf(link, buf);
	return atomic_inc_return(&link->n_reclaim);
}

/**
 * smcr_link_attach() - attach a connection, which is going to send over a link
 * @link: link; a reference is taken for the connection, and n_conns counts it
 *
 * Context: any.
 */
void smcr_link_attach(struct smcr_link *link)
{
	smcr_link_hold(link);
	atomic_inc(&link->n_conns);
}

/**
 * smcr_link_detach() - undo smcr_link_attach()
 * @link: link; the connection's reference is put
 *
 * Context: process, sleeps.
 */
void smcr_link_detach(struct smcr_link *link)
{
	atomic_dec(&link->n_conns);
	smcr_link_put(link);
}
