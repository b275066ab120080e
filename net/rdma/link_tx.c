// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send queue of a link: posts, their completions, the FIFO of connections that
 * wait for room, memory registration, drain.
 */
#include <linux/slab.h>
#include "base/netns.h"
#include "base/race.h"
#include "rdma/buf.h"
#include "rdma/link.h"
#include "rdma/link_impl.h"

static u32 link_wrs_free(const struct smcr_link *link)
{
	lockdep_assert_held(&link->lock);
	return SMCR_SQ_DEPTH - (link->posted - link->completed);
}

/*
 * Is there room for the largest post of a connection? If not, a signalled WR is
 * outstanding (see link_post_chain()). Its completion checks for room again.
 */
static bool link_has_room(const struct smcr_link *link)
{
	return link_wrs_free(link) >= SMCR_CTRL_RESERVE + SMCR_POST_MAX;
}

static int link_admit(const struct smcr_link *link, u32 n, u32 reserve)
{
	if (link->st != SMCR_LINK_ST_RTS)
		return -ENOTCONN;
	return link_wrs_free(link) < n + reserve ? -EAGAIN : 0;
}

/*
 * May @who post next? While connections wait, only the connection that
 * smcr_link_next_waiter() has taken off the FIFO may.
 */
static bool link_is_next(const struct smcr_link *link,
			 const struct list_head *who)
{
	return link->turn ? link->turn == who : list_empty(&link->waiters);
}

/* Admit a post of @n WRs by connection @who; this ends the turn of @who */
static int link_admit_data(struct smcr_link *link, u32 n,
			   const struct list_head *who)
{
	int rc = link_admit(link, n, SMCR_CTRL_RESERVE);

	if (unlikely(link->draining))
		return -ENOTCONN;
	if (!rc && unlikely(!link_is_next(link, who)))
		rc = -EAGAIN;
	if (!rc)
		link->turn = NULL;
	return rc;
}

static struct smcr_tx_pend *pend_at(const struct smcr_link *link, u32 n)
{
	return &link->pends[n % SMCR_SQ_DEPTH];
}

/*
 * Entry for a signalled WR; NULL: none is free. NULL is not expected: there are
 * as many entries as send WRs, and each outstanding WR uses at most one.
 */
static struct smcr_tx_pend *pend_get(struct smcr_link *link)
{
	struct smcr_tx_pend *pend = pend_at(link, link->pend_head);

	lockdep_assert_held(&link->lock);
	if (link->pend_head - link->pend_tail == SMCR_SQ_DEPTH)
		return NULL;
	WRITE_ONCE(link->pend_head, link->pend_head + 1);
	if (atomic_inc_return(&link->n_pend) == 1)
		WRITE_ONCE(link->last_tx, jiffies);
	return pend;
}

/* @pend and all WRs before it are completed. True: a waiter has room now */
static bool pend_retire(struct smcr_link *link, struct smcr_tx_pend *pend)
{
	bool room;

	WRITE_ONCE(link->last_tx, jiffies);
	spin_lock_bh(&link->lock);
	link->completed = pend->posted;
	link->pend_tail++;
	room = !list_empty(&link->waiters) && link_has_room(link);
	spin_unlock_bh(&link->lock);
	return room;
}

static void pend_end(struct smcr_link *link, struct smcr_tx_pend *pend, bool ok)
{
	if (pend->done)
		pend->done(pend, ok);
	if (pend_retire(link, pend))
		smcr_link_owner_ops->room(link);
	smcr_link_settle(link, &link->n_pend);
}

/*
 * Number of outstanding entries that were posted before @pend; U32_MAX: @pend
 * is not outstanding. This is assumed, too, if half of the queue or more would
 * be before @pend. No lock is needed for pend_tail: only completion handlers
 * move it, and they run one at a time.
 */
static u32 pends_before(const struct smcr_link *link,
			const struct smcr_tx_pend *pend)
{
	u32 n = (u32)(pend - link->pends) - link->pend_tail;

	n %= SMCR_SQ_DEPTH;
	if (n < READ_ONCE(link->pend_head) - link->pend_tail &&
	    n < SMCR_SQ_DEPTH / 2)
		return n;
	return U32_MAX;
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_tx_pend *pend = container_of(wc->wr_cqe,
						 struct smcr_tx_pend, cqe);
	struct smcr_link *link = pend->link;
	bool ok = wc->status == IB_WC_SUCCESS;
	u32 n = pends_before(link, pend);

	if (unlikely(n == U32_MAX)) {
		smcr_link_wc_order(link);
		return;
	}
	if (unlikely(!ok))
		smcr_link_wc_error(link, wc);
	smcr_race_atomic(link->sn->net, "tx-done");
	/* all WRs before @pend have ended, even if a completion was lost */
	do {
		pend_end(link, pend_at(link, link->pend_tail), ok);
	} while (n--);
}

/**
 * smcr_link_stuck() - has the send queue been held up for a time?
 * @link: link
 * @time: jiffies
 *
 * If the peer posts no receives, its device answers each SEND by an RNR NAK,
 * and the send queue is held up for ever. Messages of the peer may still
 * arrive.
 *
 * Context: any.
 * Return: true if signalled WRs are outstanding and none has completed for
 * @time.
 */
bool smcr_link_stuck(const struct smcr_link *link, unsigned long time)
{
	return atomic_read(&link->n_pend) &&
	       time_after_eq(jiffies, READ_ONCE(link->last_tx) + time);
}

/* Unsignalled WRs complete only with an error */
static void tx_unsignalled_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_link *link = container_of(wc->wr_cqe, struct smcr_link,
					      unsignalled_cqe);

	if (wc->status != IB_WC_SUCCESS)
		smcr_link_wc_error(link, wc);
}

void smcr_link_init_sq(struct smcr_link *link)
{
	struct smcr_tx_pend *pend;
	int i;

	link->unsignalled_cqe.done = tx_unsignalled_done;
	for (i = 0; i < SMCR_SQ_DEPTH; i++) {
		pend = &link->pends[i];
		pend->cqe.done = tx_done;
		pend->link = link;
	}
}

/*
 * Post @n chained WRs. If the last one is signalled, @pend is its entry. Of any
 * SMCR_SQ_DEPTH / 4 + SMCR_POST_MAX successive WRs at least one is signalled
 * (link_needs_signal()). So if the queue has no room, a signalled WR is
 * outstanding.
 */
static int link_post_chain(struct smcr_link *link,
			   const struct ib_send_wr *first, u32 n,
			   struct smcr_tx_pend *pend)
{
	const struct ib_send_wr *bad = first;

	lockdep_assert_held(&link->lock);
	if (pend)
		pend->posted = link->posted + n;
	if (likely(!ib_post_send(link->qp, first, &bad))) {
		link->posted += n;
		link->unsignalled = pend ? 0 : link->unsignalled + n;
		return 0;
	}
	for (; first && first != bad; first = first->next)
		link->posted++;
	if (pend) {
		WRITE_ONCE(link->pend_head, link->pend_head - 1);
		atomic_dec(&link->n_pend);
	}
	return -EIO;
}

static bool link_needs_signal(const struct smcr_link *link, u32 n)
{
	return link->unsignalled + n >= SMCR_SQ_DEPTH / 4;
}

/*
 * Set the payload of the SEND. @wr_no, the number of the WR, selects a place in
 * tx_buf that no other outstanding WR uses.
 */
static int link_fill_send(struct smcr_link *link, struct ib_send_wr *wr,
			  struct ib_sge *sge, const u8 *msg, u32 wr_no)
{
	u32 off = wr_no % SMCR_SQ_DEPTH * SMCR_TX_SLOT;
	u32 run;

	wr->sg_list = sge;
	wr->num_sge = 1;
	if (link->max_inline >= link->msg_len) {
		/* the CPU copies inline data during ib_post_send() */
		wr->send_flags |= IB_SEND_INLINE;
		sge->addr = (uintptr_t)msg;
		sge->length = link->msg_len;
		sge->lkey = 0;
		return 0;
	}
	memcpy(smcr_buf_at(link->tx_buf, off, link->msg_len, &run), msg,
	       link->msg_len);
	return smcr_buf_sges(link->tx_buf, link->mem.d, link->lkey, off,
			     link->msg_len, sge, 1) == 1 ? 0 : -EIO;
}

static void link_chain_writes(struct smcr_link *link, struct ib_rdma_wr *w,
			      int n_w, struct ib_send_wr *last)
{
	int i, j;

	for (i = 0; i < n_w; i++) {
		w[i].wr.next = i + 1 < n_w ? &w[i + 1].wr : last;
		w[i].wr.wr_cqe = &link->unsignalled_cqe;
		w[i].wr.send_flags = 0;
		for (j = 0; j < w[i].wr.num_sge; j++)
			link->tx_bytes += w[i].wr.sg_list[j].length;
	}
	link->tx_writes += n_w;
	link->tx_sends += !!last;
}

/* The locked part of smcr_link_post() */
static int link_post_locked(struct smcr_link *link, const struct smcr_post *post)
{
	struct ib_rdma_wr *w = post->w;
	const u8 *msg = post->msg;
	int n_w = post->n_w;
	struct ib_send_wr send = {
		.wr_cqe = &link->unsignalled_cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SOLICITED,
	};
	u32 n = n_w + !!msg;
	struct smcr_tx_pend *pend = NULL;
	struct ib_send_wr *last = msg ? &send : &w[n_w - 1].wr;
	struct ib_sge sge;

	if (msg && link_fill_send(link, &send, &sge, msg, link->posted + n_w))
		return -EIO;
	link_chain_writes(link, w, n_w, msg ? &send : NULL);
	if (post->done || link_needs_signal(link, n)) {
		pend = pend_get(link);
		if (!pend)
			return -EAGAIN;
		pend->done = post->done;
		pend->arg = post->arg;
		pend->mark = post->mark;
		pend->flags = post->flags;
		last->wr_cqe = &pend->cqe;
		last->send_flags |= IB_SEND_SIGNALED;
	}
	return link_post_chain(link, n_w ? &w[0].wr : &send, n, pend);
}

/**
 * smcr_link_post() - post RDMA WRITEs and a message with one doorbell
 * @link: link
 * @post: what to post
 *
 * Context: any up to softirq; the caller may hold its connection's lock.
 * Return: 0: posted, and @post->done is called exactly once, perhaps before
 * this function returns. After an error it is never called. -EAGAIN: nothing
 * posted, as there is no room or other connections come first. -ENOTCONN: the
 * link is not in RTS; or it drains, and @post->waiter is set; or the device has
 * refused the post, so that the link fails. In the last case some of the WRITEs
 * may have been posted.
 */
int smcr_link_post(struct smcr_link *link, const struct smcr_post *post)
{
	int n = post->n_w + 1;
	int rc;

	if (WARN_ON_ONCE(n > SMCR_POST_MAX))
		return -ENOTCONN;

	smcr_race_atomic(link->sn->net, "link-post");
	spin_lock_bh(&link->lock);
	rc = post->waiter ? link_admit_data(link, n, post->waiter) :
			    link_admit(link, n, 0);
	if (!rc)
		rc = link_post_locked(link, post);
	spin_unlock_bh(&link->lock);

	if (unlikely(rc == -EIO)) {
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
		return -ENOTCONN;
	}
	return rc;
}

/**
 * smcr_link_wait_room() - wait in the FIFO after -EAGAIN
 * @link: link
 * @node: list head of the waiter; the caller keeps it alive
 *
 * LLC may have used the room of the waiter that has the turn. If so, this
 * waiter becomes the first in the FIFO again.
 *
 * Context: any up to softirq; the caller may hold its connection's lock.
 * Return: true: @node is in the FIFO. False: the caller is to post again.
 * Either there is room now and @node is next, or the link carries no
 * connections, and the post returns -ENOTCONN.
 */
bool smcr_link_wait_room(struct smcr_link *link, struct list_head *node)
{
	bool queued;

	spin_lock_bh(&link->lock);
	queued = !list_empty(node);
	if (!queued && link->st == SMCR_LINK_ST_RTS && !link->draining &&
	    !(link_has_room(link) && link_is_next(link, node))) {
		if (link->turn == node)
			list_add(node, &link->waiters);
		else
			list_add_tail(node, &link->waiters);
		queued = true;
	}
	spin_unlock_bh(&link->lock);
	return queued;
}

/**
 * smcr_link_cancel_wait() - take a waiter off the FIFO
 * @link: link
 * @node: list head of the waiter, in the FIFO or not
 *
 * Context: any up to softirq.
 * Return: true if @node was in the FIFO.
 */
bool smcr_link_cancel_wait(struct smcr_link *link, struct list_head *node)
{
	bool queued;

	spin_lock_bh(&link->lock);
	queued = !list_empty(node);
	list_del_init(node);
	spin_unlock_bh(&link->lock);
	return queued;
}

/**
 * smcr_link_next_waiter() - take the first waiter off the FIFO if there is room
 * @link: link
 *
 * The waiter has the turn for one post. The turn ends with the next call of
 * this function at the latest, so the caller repeats the call until it returns
 * NULL.
 *
 * Context: any up to softirq, by one caller at a time.
 * Return: list head of the waiter; NULL if there is none or no room.
 */
struct list_head *smcr_link_next_waiter(struct smcr_link *link)
{
	struct list_head *node = NULL;

	spin_lock_bh(&link->lock);
	if (!list_empty(&link->waiters) && link_has_room(link)) {
		node = link->waiters.next;
		list_del_init(node);
	}
	link->turn = node;
	spin_unlock_bh(&link->lock);
	return node;
}

/*
 * Shared by link_run() and link_wait_done(), which may run after link_run() has
 * timed out, also in smcr_link_stop().
 */
struct link_wait {
	refcount_t refs;
	struct completion done;
	bool ok;
};

static void link_wait_put(struct link_wait *w)
{
	if (refcount_dec_and_test(&w->refs))
		kfree(w);
}

static void link_wait_done(struct smcr_tx_pend *pend, bool ok)
{
	struct link_wait *w = pend->arg;

	w->ok = ok;
	complete(&w->done);
	link_wait_put(w);
}

static int link_post_one(struct smcr_link *link, struct ib_send_wr *wr,
			 struct link_wait *w)
{
	struct smcr_tx_pend *pend;
	int rc;

	spin_lock_bh(&link->lock);
	rc = link_admit(link, 1, 0);
	pend = rc ? NULL : pend_get(link);
	if (pend) {
		pend->done = link_wait_done;
		pend->arg = w;
		wr->wr_cqe = &pend->cqe;
		rc = link_post_chain(link, wr, 1, pend);
	} else if (!rc) {
		rc = -EAGAIN;
	}
	spin_unlock_bh(&link->lock);
	return rc;
}

/* Wait for room, post @wr, and wait for its completion, until @deadline */
static int link_wait_for(struct smcr_link *link, struct ib_send_wr *wr,
			 struct link_wait *w, unsigned long deadline)
{
	long left;
	int rc;

	for (;;) {
		rc = link_post_one(link, wr, w);
		left = deadline - jiffies;
		if (rc != -EAGAIN || left <= 0)
			break;
		usleep_range(500, 1000);
	}
	if (rc) {
		link_wait_put(w);	/* no completion will put it */
		return rc;
	}
	if (!wait_for_completion_timeout(&w->done, max(left, 1L)))
		return -ETIMEDOUT;
	return w->ok ? 0 : -EIO;
}

/*
 * Post one signalled request, and wait for its completion. Returns 0; -ENOMEM:
 * the request is not posted. After other errors the device may still execute
 * the request. Process context, sleeps up to @time.
 */
static int link_run(struct smcr_link *link, struct ib_send_wr *wr,
		    unsigned long time)
{
	struct link_wait *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int rc;

	might_sleep();
	if (!w)
		return -ENOMEM;
	refcount_set(&w->refs, 2);
	init_completion(&w->done);
	rc = link_wait_for(link, wr, w, jiffies + time);
	link_wait_put(w);
	return rc;
}

/**
 * smcr_link_reg_mr() - fast-register an MR
 * @link: link in RTS
 * @mr: mapped with ib_map_mr_sg(), key updated
 * @access: IB_ACCESS_*
 *
 * Context: process, sleeps up to T_LLC.
 * Return: 0; -ENOMEM; -ENOTCONN, -EAGAIN, -ETIMEDOUT or -EIO. After each of the
 * last four the link has failed, and @mr must not be freed before
 * smcr_link_stop().
 */
int smcr_link_reg_mr(struct smcr_link *link, struct ib_mr *mr, int access)
{
	int ms = max(READ_ONCE(link->sn->knobs.t_llc), 1);
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	int rc;

	rc = link_run(link, &wr.wr, msecs_to_jiffies(ms));
	if (rc && rc != -ENOMEM)
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
	return rc;
}

/**
 * smcr_link_drain() - end the traffic of connections on a link that still works
 * @link: link in RTS
 * @time: limit, jiffies
 *
 * Connections cannot post any more, LLC can. The function posts an RDMA WRITE
 * of 0 bytes, for which neither key nor address matters. When this WRITE
 * completes, all that connections have sent has arrived, and need not be sent
 * again (RFC 7609 2.3, FO-16).
 *
 * Context: process, sleeps up to @time.
 * Return: true: all has arrived, and @link->drained is set.
 */
bool smcr_link_drain(struct smcr_link *link, unsigned long time)
{
	struct ib_rdma_wr w = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	spin_lock_bh(&link->lock);
	WRITE_ONCE(link->draining, true);
	smcr_link_lost(link);
	spin_unlock_bh(&link->lock);
	if (link_run(link, &w.wr, time))
		return false;
	WRITE_ONCE(link->drained, true);
	return true;
}

/**
 * smcr_link_stay() - undo smcr_link_drain(): connections use the link again
 * @link: link that was drained
 *
 * What connections sent before the drain need not be sent again: it has
 * arrived, or it is in the send queue before all that they send from now on.
 *
 * Context: process.
 * Return: false if the link has failed, or was stopped.
 */
bool smcr_link_stay(struct smcr_link *link)
{
	bool works;

	spin_lock_bh(&link->lock);
	works = link->st == SMCR_LINK_ST_RTS;
	if (works) {
		WRITE_ONCE(link->drained, false);
		WRITE_ONCE(link->draining, false);
		WRITE_ONCE(link->lost_at, 0);
	}
	spin_unlock_bh(&link->lock);
	return works;
}

/* Call @done of all outstanding WRs, after the last completion handler */
void smcr_link_abandon(struct smcr_link *link)
{
	struct smcr_tx_pend *pend;

	for (; link->pend_tail != link->pend_head; link->pend_tail++) {
		pend = pend_at(link, link->pend_tail);
		local_bh_disable();
		if (pend->done)
			pend->done(pend, false);
		local_bh_enable();
	}
}
