// SPDX-License-Identifier: GPL-2.0-only
/*
 * A link: RC queue pair, completion queue, receive queue, send queue. See
 * link.h.
 *
 * Completions run in softirq, one handler at a time per link because each link
 * has a completion queue of its own. The queue pair's state is our own record:
 * devices are never asked (rxe of Linux 6.1 does not know), and no error of
 * the queue pair goes unnoticed because receives are always outstanding, which
 * it would flush.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "buf.h"
#include "lgr.h"
#include "link.h"
#include "pernet.h"
#include "trace.h"

#define SMCR_TX_SLOT		64	/* bytes of a SEND's slot in tx_buf */
#define SMCR_CQ_SLACK		16	/* completion entries nobody planned */
#define SMCR_DRAIN		(5 * HZ)
#define SMCR_HOP_LIMIT		64	/* RoCEv2: the peer may be routed */
#define SMCR_RNR_TIMER		5	/* verbs encoding, 60 us */

/* One receive; it has a cache line */
struct smcr_rx_slot {
	struct ib_cqe cqe;
	struct ib_sge sge;
	struct ib_recv_wr wr;	/* wr.next is the next slot's, around the ring */
};

/* State */

/* The only writer of link->st; ERR is final. False if it was ERR already. */
static bool link_set_state(struct smcr_link *link, u8 st, enum smcr_reason why)
{
	lockdep_assert_held(&link->lock);
	if (link->st == SMCR_LINK_ST_ERR)
		return false;
	WRITE_ONCE(link->st, st);
	trace_smcr_link(link->lgr->id, link->num, st, why);
	return true;
}

/* After a successful modify; the link may have failed while it ran */
static int link_advance(struct smcr_link *link, u8 st)
{
	bool ok;

	spin_lock_bh(&link->lock);
	ok = link_set_state(link, st, SMCR_R_NONE);
	spin_unlock_bh(&link->lock);
	return ok ? 0 : -ENOTCONN;
}

/**
 * smcr_link_fail() - the link cannot be used any more
 * @link: link
 * @why: reason
 *
 * Nothing is posted afterwards. The first call tells the owner through
 * ops->down(), which gets the queue pair to ERR in its own time.
 *
 * Context: any up to softirq; a connection's lock may be held.
 */
void smcr_link_fail(struct smcr_link *link, enum smcr_reason why)
{
	bool first;

	spin_lock_bh(&link->lock);
	first = !link->down_reported;
	link->down_reported = true;
	link_set_state(link, SMCR_LINK_ST_ERR, why);
	spin_unlock_bh(&link->lock);

	if (!first)
		return;
	net_info_ratelimited("smcr: link group %u, peer %*phN: link %u failed: %s\n",
			     link->lgr->id, (int)sizeof(link->lgr->peer.id),
			     link->lgr->peer.id, link->num,
			     smcr_reason_name(why));
	link->ops->down(link, why);
}

static bool link_is_err(const struct smcr_link *link)
{
	return READ_ONCE(link->st) == SMCR_LINK_ST_ERR;
}

/* A work request failed. In ERR that is what was asked for. */
static void link_wc_error(struct smcr_link *link, const struct ib_wc *wc)
{
	if (link_is_err(link))
		return;
	net_dbg_ratelimited("smcr: link group %u: %s\n", link->lgr->id,
			    ib_wc_status_msg(wc->status));
	smcr_link_fail(link, SMCR_R_LINK_ERROR);
}

/*
 * A queue completes in the order in which it was posted. Another completion is a
 * second one, or of a receive after one whose message was lost with its
 * completion: what this device says may be wrong.
 */
static void link_wc_order(struct smcr_link *link)
{
	net_warn_ratelimited("smcr: link group %u: device %s completes a request twice or out of order\n",
			     link->lgr->id,
			     dev_name(&link->pid.dev->ibdev->dev));
	smcr_link_fail(link, SMCR_R_LINK_ERROR);
}

/* One request less outstanding; see smcr_link_stop() */
static void link_settle(struct smcr_link *link, atomic_t *count)
{
	if (atomic_dec_and_test(count) && wq_has_sleeper(&link->drain_wait))
		wake_up(&link->drain_wait);
}

/* Receive queue */

static u32 slot_off(const struct smcr_link *link,
		    const struct smcr_rx_slot *slot)
{
	return (u32)(slot - link->rx_slots) * SMCR_RX_LEN;
}

static void slot_give_back(struct smcr_link *link, struct smcr_rx_slot *slot)
{
	smcr_buf_sync_dev(link->rx_buf, slot_off(link, slot), SMCR_RX_LEN);
	link->rq_missing++;
}

static struct smcr_rx_slot *slot_at(const struct smcr_link *link, u32 n)
{
	return &link->rx_slots[n % SMCR_RQ_DEPTH];
}

/* Post the rq_missing slots before rq_tail with one doorbell, unless in ERR */
static int link_replenish(struct smcr_link *link)
{
	struct smcr_rx_slot *last = slot_at(link, link->rq_tail - 1);
	const struct ib_recv_wr *wr, *bad;
	int rc = 0;

	spin_lock_bh(&link->lock);
	if (link->st != SMCR_LINK_ST_ERR) {
		wr = &slot_at(link, link->rq_tail - link->rq_missing)->wr;
		bad = wr;
		last->wr.next = NULL;
		atomic_add(link->rq_missing, &link->n_rx);
		rc = ib_post_recv(link->qp, wr, &bad);
		/* what was not posted is lost, and so is the link */
		for (; rc && bad; bad = bad->next)
			atomic_dec(&link->n_rx);
		last->wr.next = &slot_at(link, link->rq_tail)->wr;
		link->rq_missing = 0;
	}
	spin_unlock_bh(&link->lock);
	return rc;
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_rx_slot *slot = container_of(wc->wr_cqe,
						 struct smcr_rx_slot, cqe);
	struct smcr_link *link = cq->cq_context;
	u32 run;

	if (unlikely(slot != slot_at(link, link->rq_tail))) {
		link_wc_order(link);
		return;
	}
	link->rq_tail++;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		link_wc_error(link, wc);
		link_settle(link, &link->n_rx);
		return;
	}

	WRITE_ONCE(link->last_rx, jiffies);
	if (likely(wc->opcode == IB_WC_RECV)) {
		link->rx_sends++;
		smcr_buf_sync_cpu(link->rx_buf, slot_off(link, slot),
				  SMCR_RX_LEN);
		link->ops->rx(link,
			      smcr_buf_at(link->rx_buf, slot_off(link, slot),
					  SMCR_RX_LEN, &run),
			      min_t(u32, wc->byte_len, SMCR_RX_LEN));
	} else {
		/*
		 * RDMA WRITE with immediate data: it took a receive, left the
		 * buffer alone, and says nothing that CDC does not (I-04).
		 */
		smcr_count(link->lgr->sn, SMCR_CNT_RX_IMM);
	}

	slot_give_back(link, slot);
	if (link->rq_missing >= SMCR_RQ_BATCH && link_replenish(link))
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
	link_settle(link, &link->n_rx);
}

static int link_init_rq(struct smcr_link *link)
{
	struct smcr_rx_slot *slot;
	int i, n;

	for (i = 0; i < SMCR_RQ_DEPTH; i++) {
		slot = &link->rx_slots[i];
		slot->cqe.done = rx_done;
		slot->wr.wr_cqe = &slot->cqe;
		slot->wr.sg_list = &slot->sge;
		slot->wr.num_sge = 1;
		n = smcr_buf_sges(link->rx_buf, link->pd, slot_off(link, slot),
				  SMCR_RX_LEN, &slot->sge, 1);
		if (n < 0)
			return n;
		slot->wr.next = &slot_at(link, i + 1)->wr;
		slot_give_back(link, slot);
	}
	return link_replenish(link);
}

/* Send queue */

static u32 link_wrs_free(const struct smcr_link *link)
{
	lockdep_assert_held(&link->lock);
	return SMCR_SQ_DEPTH - (link->posted - link->completed);
}

/*
 * Enough for any post of a connection. When it is false a signalled WR is
 * outstanding, so somebody will look again (see link_post_chain()).
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
 * First come, first served: while somebody is in line, what becomes free is for
 * whoever smcr_link_next_waiter() has taken off it.
 */
static bool link_is_next(const struct smcr_link *link,
			 const struct list_head *who)
{
	return link->turn ? link->turn == who : list_empty(&link->waiters);
}

/* Connection traffic of @who: one post for each turn */
static int link_admit_data(struct smcr_link *link, u32 n,
			   const struct list_head *who)
{
	int rc = link_admit(link, n, SMCR_CTRL_RESERVE);

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

/* There are as many as send WRs, and each one out has a WR of its own */
static struct smcr_tx_pend *pend_get(struct smcr_link *link)
{
	struct smcr_tx_pend *pend = pend_at(link, link->pend_head);

	lockdep_assert_held(&link->lock);
	if (link->pend_head - link->pend_tail == SMCR_SQ_DEPTH)
		return NULL;
	link->pend_head++;
	if (atomic_inc_return(&link->n_pend) == 1)
		WRITE_ONCE(link->last_tx, jiffies);
	return pend;
}

/* @pend is done and everything posted before it; true if a waiter may go on */
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
		link->ops->room(link);
	link_settle(link, &link->n_pend);
}

/*
 * Number of those that were posted before @pend and are outstanding; U32_MAX if
 * @pend is not. Handlers run one at a time: nobody else moves pend_tail.
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
		link_wc_order(link);
		return;
	}
	if (unlikely(!ok))
		link_wc_error(link, wc);
	/* those before it have come to their end, too, if nobody told */
	do {
		pend_end(link, pend_at(link, link->pend_tail), ok);
	} while (n--);
}

/**
 * smcr_link_stuck() - does the peer's adapter not take what is sent?
 * @link: link
 * @time: jiffies
 *
 * A peer that posts no receives holds up the send queue for ever, RNR NAK by
 * RNR NAK, and can still be heard.
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

/* WRs without a pend complete only in error */
static void tx_unsignalled_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_link *link = container_of(wc->wr_cqe, struct smcr_link,
					      unsignalled_cqe);

	if (wc->status != IB_WC_SUCCESS)
		link_wc_error(link, wc);
}

/*
 * Post @n chained WRs, the last one with @pend if it is signalled. Of the last
 * SMCR_SQ_DEPTH / 4 + SMCR_POST_MAX WRs at least one is signalled
 * (link_needs_signal()), so a queue without room has one outstanding.
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
		link->pend_head--;
		atomic_dec(&link->n_pend);
	}
	return -EIO;
}

static bool link_needs_signal(const struct smcr_link *link, u32 n)
{
	return link->unsignalled + n >= SMCR_SQ_DEPTH / 4;
}

/* The SEND's payload; @wr_no is its number in the queue, not in use twice */
static int link_fill_send(struct smcr_link *link, struct ib_send_wr *wr,
			  struct ib_sge *sge, const u8 *msg, u32 wr_no)
{
	u32 off = wr_no % SMCR_SQ_DEPTH * SMCR_TX_SLOT;
	u32 run;

	wr->sg_list = sge;
	wr->num_sge = 1;
	if (link->max_inline >= SMCR_WR_LEN) {
		/* inline data are copied by the CPU while it posts */
		wr->send_flags |= IB_SEND_INLINE;
		sge->addr = (uintptr_t)msg;
		sge->length = SMCR_WR_LEN;
		sge->lkey = 0;
		return 0;
	}
	memcpy(smcr_buf_at(link->tx_buf, off, SMCR_WR_LEN, &run), msg,
	       SMCR_WR_LEN);
	return smcr_buf_sges(link->tx_buf, link->pd, off, SMCR_WR_LEN, sge,
			     1) == 1 ? 0 : -EIO;
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
	link->tx_sends++;
}

/* The locked part of smcr_link_post(); @tmpl holds done, arg, mark, flags */
static int link_post_locked(struct smcr_link *link, struct ib_rdma_wr *w,
			    int n_w, const u8 *msg,
			    const struct smcr_tx_pend *tmpl)
{
	struct ib_send_wr send = {
		.wr_cqe = &link->unsignalled_cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SOLICITED,
	};
	struct smcr_tx_pend *pend = NULL;
	struct ib_sge sge;

	if (link_fill_send(link, &send, &sge, msg, link->posted + n_w))
		return -EIO;
	if (tmpl->done || link_needs_signal(link, n_w + 1)) {
		pend = pend_get(link);
		if (!pend)
			return -EAGAIN;
		pend->done = tmpl->done;
		pend->arg = tmpl->arg;
		pend->mark = tmpl->mark;
		pend->flags = tmpl->flags;
		send.wr_cqe = &pend->cqe;
		send.send_flags |= IB_SEND_SIGNALED;
	}
	link_chain_writes(link, w, n_w, &send);
	return link_post_chain(link, n_w ? &w[0].wr : &send, n_w + 1, pend);
}

/**
 * smcr_link_post() - RDMA WRITEs and one 44-byte SEND, one doorbell
 * @link: link
 * @w: @n_w RDMA WRITE requests, set up except for chaining, flags and cqe; may be
 *	NULL with 0
 * @n_w: their number, less than SMCR_POST_MAX
 * @msg: SMCR_WR_LEN bytes to SEND after them, copied
 * @done: called at completion; NULL: the SEND is signalled only if the send queue
 *	has to be reclaimed
 * @arg: for @done
 * @mark: for @done
 * @flags: for @done
 * @who: the connection's place in line, NULL for control messages, which need
 *	not wait their turn and may use the last SMCR_CTRL_RESERVE requests
 *
 * Context: any up to softirq; the caller may hold its connection's lock.
 * Return: 0; -EAGAIN no room, or others come before, nothing posted; -ENOTCONN
 * link not in RTS or failed by this: some of @w may have been posted. @done is
 * called exactly once after 0, perhaps before the caller sees it, else never.
 */
int smcr_link_post(struct smcr_link *link, struct ib_rdma_wr *w, int n_w,
		   const u8 *msg, void (*done)(struct smcr_tx_pend *, bool),
		   void *arg, u64 mark, u32 flags,
		   const struct list_head *who)
{
	const struct smcr_tx_pend tmpl = {
		.done = done,
		.arg = arg,
		.mark = mark,
		.flags = flags,
	};
	int rc;

	if (WARN_ON_ONCE(n_w >= SMCR_POST_MAX))
		return -ENOTCONN;

	spin_lock_bh(&link->lock);
	rc = who ? link_admit_data(link, n_w + 1, who) :
		   link_admit(link, n_w + 1, 0);
	if (!rc)
		rc = link_post_locked(link, w, n_w, msg, &tmpl);
	spin_unlock_bh(&link->lock);

	if (unlikely(rc == -EIO)) {
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
		return -ENOTCONN;
	}
	return rc;
}

/**
 * smcr_link_wait_room() - get in line after -EAGAIN
 * @link: link
 * @node: list head of the waiter; what keeps it alive is up to the caller
 *
 * Who lost the room in his turn (to control messages) stays first.
 *
 * Context: any up to softirq; the caller may hold its connection's lock.
 * Return: true if @node is in line; false if there is room by now and it is
 * next, or there never will be: try again.
 */
bool smcr_link_wait_room(struct smcr_link *link, struct list_head *node)
{
	bool queued;

	spin_lock_bh(&link->lock);
	queued = !list_empty(node);
	if (!queued && link->st == SMCR_LINK_ST_RTS &&
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
 * smcr_link_cancel_wait() - leave the line
 * @link: link
 * @node: in line or not
 *
 * Context: any up to softirq.
 * Return: true if @node was in line.
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
 * smcr_link_next_waiter() - who is first in line, if there is room for it
 * @link: link
 *
 * To be called until it returns NULL: the turn of the one before ends with it.
 *
 * Context: any up to softirq, by one caller at a time.
 * Return: the waiter, not in line any more; NULL if there is none or no room.
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

/* Memory registration */

/* Shared by the waiter and the completion, which may come late or in stop */
struct link_reg {
	refcount_t refs;
	struct completion done;
	bool ok;
};

static void link_reg_put(struct link_reg *reg)
{
	if (refcount_dec_and_test(&reg->refs))
		kfree(reg);
}

static void link_reg_done(struct smcr_tx_pend *pend, bool ok)
{
	struct link_reg *reg = pend->arg;

	reg->ok = ok;
	complete(&reg->done);
	link_reg_put(reg);
}

static int link_post_reg(struct smcr_link *link, struct ib_mr *mr, int access,
			 struct link_reg *reg)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	struct smcr_tx_pend *pend;
	int rc;

	spin_lock_bh(&link->lock);
	rc = link_admit(link, 1, 0);
	pend = rc ? NULL : pend_get(link);
	if (pend) {
		pend->done = link_reg_done;
		pend->arg = reg;
		wr.wr.wr_cqe = &pend->cqe;
		rc = link_post_chain(link, &wr.wr, 1, pend);
	} else if (!rc) {
		rc = -EAGAIN;
	}
	spin_unlock_bh(&link->lock);
	return rc;
}

/* Post it, or wait for room until @deadline; then wait for the result */
static int link_reg_run(struct smcr_link *link, struct ib_mr *mr, int access,
			struct link_reg *reg, unsigned long deadline)
{
	long left;
	int rc;

	for (;;) {
		rc = link_post_reg(link, mr, access, reg);
		left = deadline - jiffies;
		if (rc != -EAGAIN || left <= 0)
			break;
		usleep_range(500, 1000);
	}
	if (rc) {
		link_reg_put(reg);	/* the completion's */
		return rc;
	}
	if (!wait_for_completion_timeout(&reg->done, max(left, 1L)))
		return -ETIMEDOUT;
	return reg->ok ? 0 : -EIO;
}

/**
 * smcr_link_reg_mr() - fast-register an MR
 * @link: link in RTS
 * @mr: mapped with ib_map_mr_sg(), key updated
 * @access: IB_ACCESS_*
 *
 * Context: process, sleeps up to T_LLC.
 * Return: 0; -ENOMEM; -ENOTCONN, -EAGAIN, -ETIMEDOUT, -EIO, all with the link
 * failed: @mr has to live until smcr_link_stop().
 */
int smcr_link_reg_mr(struct smcr_link *link, struct ib_mr *mr, int access)
{
	int ms = max(READ_ONCE(link->lgr->sn->knobs.t_llc), 1);
	struct link_reg *reg;
	int rc;

	might_sleep();

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return -ENOMEM;
	refcount_set(&reg->refs, 2);
	init_completion(&reg->done);
	rc = link_reg_run(link, mr, access, reg,
			  jiffies + msecs_to_jiffies(ms));
	link_reg_put(reg);
	if (rc)
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
	return rc;
}

/* Queue pair */

static struct ib_qp *link_new_qp(struct smcr_link *link, u32 inline_size)
{
	struct ib_qp_init_attr attr = {
		.send_cq = link->cq,
		.recv_cq = link->cq,
		.cap = {
			.max_send_wr = SMCR_SQ_DEPTH,
			.max_recv_wr = SMCR_RQ_DEPTH,
			.max_send_sge = link->pid.dev->max_sge,
			.max_recv_sge = 1,
			.max_inline_data = inline_size,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	qp = ib_create_qp(link->pd, &attr);
	if (!IS_ERR(qp))
		link->max_inline = attr.cap.max_inline_data;
	return qp;
}

/*
 * An adapter's completion comes by interrupt, with a softirq behind it. A
 * software device's comes from a worker, where a softirq waits for ksoftirqd;
 * the high-priority workqueue of completions is there sooner.
 */
static enum ib_poll_context link_poll_ctx(const struct smcr_link *link)
{
	return ib_uses_virt_dma(link->pid.dev->ibdev) ? IB_POLL_WORKQUEUE :
							IB_POLL_SOFTIRQ;
}

static int link_create_qp(struct smcr_link *link)
{
	struct smcr_dev *dev = link->pid.dev;
	struct ib_qp *qp;
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(dev->ibdev, link,
			     SMCR_SQ_DEPTH + SMCR_RQ_DEPTH + SMCR_CQ_SLACK,
			     link_poll_ctx(link));
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cq = cq;

	qp = link_new_qp(link, dev->max_inline);
	if (IS_ERR(qp) && dev->max_inline)
		qp = link_new_qp(link, 0);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	link->qp = qp;
	link->qpn = qp->qp_num;
	return 0;
}

static int link_to_init(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = 0,
		.port_num = link->pid.port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE,
	};
	int rc;

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			  IB_QP_ACCESS_FLAGS);
	return rc ?: link_advance(link, SMCR_LINK_ST_INIT);
}

static int link_modify_rtr(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = link->mtu,
		.dest_qp_num = link->peer_qpn,
		.rq_psn = link->peer_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = SMCR_RNR_TIMER,
	};
	struct rdma_ah_attr *ah = &attr.ah_attr;
	union ib_gid dgid;
	int rc;

	memcpy(dgid.raw, link->peer_gid, sizeof(dgid.raw));
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, link->pid.port);
	rdma_ah_set_grh(ah, &dgid, 0, link->pid.sgid_index, SMCR_HOP_LIMIT, 0);
	memcpy(ah->roce.dmac, link->peer_mac, ETH_ALEN);

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			  IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	return rc ?: link_advance(link, SMCR_LINK_ST_RTR);
}

static int link_modify_rts(struct smcr_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = READ_ONCE(link->lgr->sn->knobs.qp_timeout),
		.retry_cnt = 6,		/* 7 is for ever on rxe */
		.rnr_retry = 7,		/* for ever, but see smcr_link_stuck() */
		.sq_psn = link->psn,
		.max_rd_atomic = 1,
	};
	int rc;

	rc = ib_modify_qp(link->qp, &attr,
			  IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			  IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			  IB_QP_MAX_QP_RD_ATOMIC);
	return rc ?: link_advance(link, SMCR_LINK_ST_RTS);
}

/**
 * smcr_link_to_rtr() - ready to receive from the peer
 * @link: link in INIT
 * @gid: peer's GID
 * @mac: peer's MAC
 * @qpn: peer's QP number
 * @psn: peer's initial PSN
 * @mtu: effective MTU, enum
 *
 * Context: process, sleeps.
 * Return: 0; -ENOTCONN not in INIT, or failed meanwhile; errno of the device.
 */
int smcr_link_to_rtr(struct smcr_link *link, const u8 gid[16],
		     const u8 mac[6], u32 qpn, u32 psn, u8 mtu)
{
	int rc = -ENOTCONN;

	mutex_lock(&link->verbs);
	if (READ_ONCE(link->st) == SMCR_LINK_ST_INIT) {
		memcpy(link->peer_gid, gid, sizeof(link->peer_gid));
		memcpy(link->peer_mac, mac, sizeof(link->peer_mac));
		link->peer_qpn = qpn;
		link->peer_psn = psn;
		link->mtu = mtu;
		rc = link_modify_rtr(link);
	}
	mutex_unlock(&link->verbs);
	return rc;
}

/**
 * smcr_link_to_rts() - ready to send
 * @link: link in RTR
 *
 * Context: process, sleeps.
 * Return: 0; -ENOTCONN not in RTR, or failed meanwhile; errno of the device.
 */
int smcr_link_to_rts(struct smcr_link *link)
{
	int rc = -ENOTCONN;

	mutex_lock(&link->verbs);
	if (READ_ONCE(link->st) == SMCR_LINK_ST_RTR)
		rc = link_modify_rts(link);
	mutex_unlock(&link->verbs);
	return rc;
}

static void link_modify_err(struct smcr_link *link)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&link->verbs);
	/* before the QP: who sees it in RTS under the lock may still post */
	spin_lock_bh(&link->lock);
	link_set_state(link, SMCR_LINK_ST_ERR, SMCR_R_NONE);
	spin_unlock_bh(&link->lock);

	if (link->qp_err || !link->qp)
		return;
	link->qp_err = true;
	ib_modify_qp(link->qp, &attr, IB_QP_STATE);
}

static struct ib_cq *link_probe_cq(struct smcr_link *link)
{
	struct ib_cq *cq;

	mutex_lock(&link->verbs);
	cq = link->probe_cq;
	if (!cq) {
		cq = ib_alloc_cq_any(link->pid.dev->ibdev, link, 2,
				     link_poll_ctx(link));
		if (!IS_ERR(cq))
			link->probe_cq = cq;
	}
	mutex_unlock(&link->verbs);
	return cq;
}

/**
 * smcr_link_probe_qp() - a second QP that is never used
 * @link: link; the caller has a reference on the group
 *
 * For an ADD LINK that the peer will refuse (LG-18, LG-19).
 *
 * Context: process, sleeps.
 * Return: QP, to be destroyed with ib_destroy_qp() before the caller lets go of
 * the group; ERR_PTR() on failure.
 */
struct ib_qp *smcr_link_probe_qp(struct smcr_link *link)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_cq *cq = link_probe_cq(link);

	if (IS_ERR(cq))
		return ERR_CAST(cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return ib_create_qp(link->pd, &attr);
}

/* Beginning and end */

static int link_alloc_arrays(struct smcr_link *link)
{
	struct smcr_tx_pend *pend;
	int i;

	link->pends = kvcalloc(SMCR_SQ_DEPTH, sizeof(*link->pends),
			       GFP_KERNEL);
	link->rx_slots = kvcalloc(SMCR_RQ_DEPTH, sizeof(*link->rx_slots),
				  GFP_KERNEL);
	if (!link->pends || !link->rx_slots)
		return -ENOMEM;
	for (i = 0; i < SMCR_SQ_DEPTH; i++) {
		pend = &link->pends[i];
		pend->cqe.done = tx_done;
		pend->link = link;
	}
	return 0;
}

static int link_alloc_buf(struct smcr_buf **buf, struct smcr_lgr *lgr,
			  u32 size, enum dma_data_direction dir)
{
	int rc;

	*buf = smcr_buf_alloc(lgr, size, dir);
	rc = PTR_ERR_OR_ZERO(*buf);
	if (rc)
		*buf = NULL;
	return rc;
}

static struct smcr_link *link_alloc(struct smcr_lgr *lgr,
				    const struct smcr_link_ops *ops,
				    const struct smcr_port_id *pid,
				    struct ib_pd *pd)
{
	struct smcr_link *link;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return NULL;
	link->ops = ops;
	link->lgr = lgr;
	link->pid = *pid;
	link->pd = pd;
	link->psn = get_random_u32() & 0xffffff;
	mutex_init(&link->verbs);
	spin_lock_init(&link->lock);
	INIT_LIST_HEAD(&link->waiters);
	link->unsignalled_cqe.done = tx_unsignalled_done;
	init_waitqueue_head(&link->drain_wait);
	link->last_rx = jiffies;
	link->last_tx = link->last_rx;
	smcr_dev_hold(pid->dev);
	return link;
}

static int link_setup(struct smcr_link *link)
{
	int rc;

	rc = link_alloc_arrays(link);
	if (!rc)
		rc = link_alloc_buf(&link->rx_buf, link->lgr,
				    SMCR_RQ_DEPTH * SMCR_RX_LEN,
				    DMA_FROM_DEVICE);
	if (!rc)
		rc = link_create_qp(link);
	if (!rc && link->max_inline < SMCR_WR_LEN)
		rc = link_alloc_buf(&link->tx_buf, link->lgr,
				    SMCR_SQ_DEPTH * SMCR_TX_SLOT,
				    DMA_TO_DEVICE);
	if (!rc)
		rc = link_to_init(link);
	if (!rc)
		rc = link_init_rq(link);
	return rc;
}

/**
 * smcr_link_create() - QP, CQ and receive queue, state INIT, receives posted
 * @lgr: owner
 * @ops: way up
 * @pid: device, port, GID; a device reference is taken
 * @pd: protection domain of the group on that device
 *
 * Context: process, sleeps.
 * Return: link or ERR_PTR(). Ended with smcr_link_stop(), smcr_link_free().
 */
struct smcr_link *smcr_link_create(struct smcr_lgr *lgr,
				   const struct smcr_link_ops *ops,
				   const struct smcr_port_id *pid,
				   struct ib_pd *pd)
{
	struct smcr_link *link;
	int rc;

	link = link_alloc(lgr, ops, pid, pd);
	if (!link)
		return ERR_PTR(-ENOMEM);
	rc = link_setup(link);
	if (rc) {
		smcr_link_free(link);
		return ERR_PTR(rc);
	}
	return link;
}

static bool link_drained(const struct smcr_link *link)
{
	return !atomic_read(&link->n_pend) && !atomic_read(&link->n_rx);
}

/* No completion can come any more: tell those who still wait for one */
static void link_abandon(struct smcr_link *link)
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

static void link_do_stop(struct smcr_link *link)
{
	lockdep_assert_held(&link->verbs);
	link_modify_err(link);
	if (!wait_event_timeout(link->drain_wait, link_drained(link),
				SMCR_DRAIN))
		net_warn_ratelimited("smcr: link group %u: device %s did not flush %d sends, %d receives\n",
				     link->lgr->id,
				     dev_name(&link->pid.dev->ibdev->dev),
				     atomic_read(&link->n_pend),
				     atomic_read(&link->n_rx));
	if (link->qp)
		ib_destroy_qp(link->qp);
	if (link->cq)
		ib_free_cq(link->cq);
	link_abandon(link);
}

/**
 * smcr_link_stop() - end of all traffic
 * @link: link
 *
 * Everything is flushed (bounded: a device that does not flush loses its QP
 * all the same), QP and CQ are destroyed, and @done of every work request that
 * never completed is called with ok false. On return no callback of the link is
 * running or will ever be called. Callable again.
 *
 * Context: process, sleeps up to SMCR_DRAIN.
 */
void smcr_link_stop(struct smcr_link *link)
{
	mutex_lock(&link->verbs);
	if (!link->stopped) {
		link_do_stop(link);
		link->stopped = true;
	}
	mutex_unlock(&link->verbs);
}

/**
 * smcr_link_free() - free the memory of a link
 * @link: link that nobody else uses any more; stopped first if it is not; NULL
 *
 * Context: process, sleeps.
 */
void smcr_link_free(struct smcr_link *link)
{
	if (!link)
		return;
	smcr_link_stop(link);
	if (link->probe_cq)
		ib_free_cq(link->probe_cq);
	smcr_buf_free(link->rx_buf);
	smcr_buf_free(link->tx_buf);
	kvfree(link->rx_slots);
	kvfree(link->pends);
	smcr_dev_put(link->pid.dev);
	kfree(link);
}
