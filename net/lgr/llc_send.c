// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC messages on their way out, and replies that wait for room.
 */
#include "lgr/kllc.h"
#include "base/trace.h"
#include "lgr/llc_impl.h"

/**
 * smcr_llc_post() - post one LLC message
 * @lgr: group
 * @msg: message
 * @done: called once at completion after 0 was returned; NULL: nobody waits
 * @arg: for @done
 * @mark: for @done
 *
 * Context: any up to softirq.
 * Return: 0; -ENOTCONN link is down; -EAGAIN send queue full.
 */
int smcr_llc_post(struct smcr_lgr *lgr, const struct smcr_llc *msg,
		  void (*done)(struct smcr_tx_pend *pend, bool ok), void *arg,
		  u64 mark)
{
	u8 buf[SMCR_WR_LEN];
	int rc;

	smcr_llc_encode(msg, lgr->link->llc_form, buf);
	trace_smcr_llc(true, lgr->id, msg->type, msg->reply);
	rc = smcr_link_post(lgr->link, NULL, 0, buf, done, arg, mark, 0, NULL);
	if (!rc)
		smcr_count(lgr->sn, SMCR_CNT_LLC_TX);
	return rc;
}

/**
 * smcr_llc_send() - smcr_llc_post() of which nobody wants to hear
 * @lgr: group
 * @msg: message
 *
 * Return: as there.
 */
int smcr_llc_send(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	return smcr_llc_post(lgr, msg, NULL, NULL, 0);
}

void smcr_llc_fail(struct smcr_lgr *lgr, enum smcr_reason why)
{
	smcr_link_fail(lgr->link, why);
}

/* The send queue is looked at this often when it had no room for a reply */
#define SMCR_LLC_RETRY	msecs_to_jiffies(20)

static void smcr_llc_arm_out(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (!queue_delayed_work(smcr_wq, &lgr->llc_out_work, SMCR_LLC_RETRY))
		smcr_lgr_put(lgr);
}

/* Behind those that wait already. A peer that takes no replies gets no more. */
static void smcr_llc_put_out(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	struct smcr_llc_item *item = kmalloc(sizeof(*item), GFP_KERNEL);
	bool flood;

	if (!item) {
		smcr_llc_fail(lgr, SMCR_R_NO_MEMORY);
		return;
	}
	item->msg = *msg;
	spin_lock_bh(&lgr->llc_lock);
	flood = lgr->llc_n_out >= SMCR_LLC_QUEUE_MAX;
	if (!flood) {
		list_add_tail(&item->node, &lgr->llc_out);
		WRITE_ONCE(lgr->llc_n_out, lgr->llc_n_out + 1);
	}
	spin_unlock_bh(&lgr->llc_lock);
	if (flood) {
		kfree(item);
		smcr_llc_fail(lgr, SMCR_R_LLC_FLOOD);
		return;
	}
	smcr_llc_arm_out(lgr);
}

/*
 * A reply to the peer, now or when the send queue has room, in their order.
 * Context: process; the group's LLC work, which alone adds to llc_out.
 */
void smcr_llc_reply(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	if (READ_ONCE(lgr->llc_n_out) ||
	    smcr_llc_send(lgr, msg) == -EAGAIN)
		smcr_llc_put_out(lgr, msg);
}

void smcr_llc_out_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, llc_out_work);
	struct smcr_llc_item *item;

	for (;;) {
		spin_lock_bh(&lgr->llc_lock);
		item = list_first_entry_or_null(&lgr->llc_out,
						struct smcr_llc_item, node);
		spin_unlock_bh(&lgr->llc_lock);
		if (!item)
			break;
		if (smcr_llc_send(lgr, &item->msg) == -EAGAIN) {
			smcr_llc_arm_out(lgr);
			break;
		}
		/* counted until it is posted: none overtakes it */
		spin_lock_bh(&lgr->llc_lock);
		list_del(&item->node);
		WRITE_ONCE(lgr->llc_n_out, lgr->llc_n_out - 1);
		spin_unlock_bh(&lgr->llc_lock);
		kfree(item);
	}
	smcr_lgr_put(lgr);
}
