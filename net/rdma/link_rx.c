// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive queue of a link: posts, and delivery through struct smcr_link_ops.
 */
#include "core/llc.h"
#include "base/netns.h"
#include "rdma/buf.h"
#include "rdma/link.h"
#include "rdma/link_impl.h"

static u32 slot_off(const struct smcr_link *link,
		    const struct smcr_rx_wr *slot)
{
	return (u32)(slot - link->rx_wrs) * SMCR_RX_LEN;
}

static void slot_give_back(struct smcr_link *link, struct smcr_rx_wr *slot)
{
	smcr_buf_sync_dev(link->rx_buf, slot_off(link, slot), SMCR_RX_LEN);
	/* nl_put_link_flow() reads rq_missing at any time */
	WRITE_ONCE(link->rq_missing, link->rq_missing + 1);
}

static struct smcr_rx_wr *slot_at(const struct smcr_link *link, u32 n)
{
	return &link->rx_wrs[n % SMCR_RQ_DEPTH];
}

/* Repost the rq_missing receives before rq_tail, unless the link is in ERR */
static int link_replenish(struct smcr_link *link)
{
	struct smcr_rx_wr *last = slot_at(link, link->rq_tail - 1);
	const struct ib_recv_wr *wr, *bad;
	int rc = 0;

	spin_lock_bh(&link->lock);
	if (link->st != SMCR_LINK_ST_ERR) {
		wr = &slot_at(link, link->rq_tail - link->rq_missing)->wr;
		bad = wr;
		last->wr.next = NULL;
		atomic_add(link->rq_missing, &link->n_rx);
		rc = ib_post_recv(link->qp, wr, &bad);
		/* these receives were not posted: the caller fails the link */
		for (; rc && bad; bad = bad->next)
			atomic_dec(&link->n_rx);
		last->wr.next = &slot_at(link, link->rq_tail)->wr;
		link->rq_missing = 0;
	}
	spin_unlock_bh(&link->lock);
	return rc;
}

static void link_deliver(struct smcr_link *link, const u8 *buf, u32 len)
{
	if (unlikely(len != link->msg_len))	/* MISC-13 */
		smcr_link_fail(link, SMCR_R_LLC_LENGTH);
	else if (likely(smcr_wr_is_cdc(buf)))
		smcr_link_owner_ops->rx_cdc(link, buf);
	else
		smcr_link_owner_ops->rx_llc(link, buf);
}

static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smcr_rx_wr *slot = container_of(wc->wr_cqe,
					       struct smcr_rx_wr, cqe);
	struct smcr_link *link = cq->cq_context;
	unsigned long now = jiffies;
	u32 run;

	if (unlikely(slot != slot_at(link, link->rq_tail))) {
		smcr_link_wc_order(link);
		return;
	}
	link->rq_tail++;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		smcr_link_wc_error(link, wc);
		smcr_link_settle(link, &link->n_rx);
		return;
	}

	/* write only a new value: other processors read the cache line */
	if (READ_ONCE(link->last_rx) != now)
		WRITE_ONCE(link->last_rx, now);
	if (likely(wc->opcode == IB_WC_RECV)) {
		WRITE_ONCE(link->rx_sends, link->rx_sends + 1);
		smcr_buf_sync_cpu(link->rx_buf, link->mem.d,
				  slot_off(link, slot), SMCR_RX_LEN);
		link_deliver(link, smcr_buf_at(link->rx_buf,
					       slot_off(link, slot),
					       SMCR_RX_LEN, &run),
			     wc->byte_len);
	} else {
		/*
		 * An RDMA WRITE with immediate data has consumed a receive, but
		 * not written to its buffer. The immediate data are ignored:
		 * CDC messages have all that is needed (I-04).
		 */
		smcr_count(link->sn, SMCR_CNT_RX_IMM);
	}

	slot_give_back(link, slot);
	if (link->rq_missing >= SMCR_RQ_BATCH && link_replenish(link))
		smcr_link_fail(link, SMCR_R_LINK_ERROR);
	smcr_link_settle(link, &link->n_rx);
}

int smcr_link_init_rq(struct smcr_link *link)
{
	struct smcr_rx_wr *slot;
	int i, n;

	for (i = 0; i < SMCR_RQ_DEPTH; i++) {
		slot = &link->rx_wrs[i];
		slot->cqe.done = rx_done;
		slot->wr.wr_cqe = &slot->cqe;
		slot->wr.sg_list = &slot->sge;
		slot->wr.num_sge = 1;
		n = smcr_buf_sges(link->rx_buf, link->mem.d, link->lkey,
				  slot_off(link, slot), SMCR_RX_LEN,
				  &slot->sge, 1);
		/* one SGE is enough: no receive crosses a border of chunks */
		if (n < 0)
			return n;
		slot->wr.next = &slot_at(link, i + 1)->wr;
		slot_give_back(link, slot);
	}
	return link_replenish(link);
}
