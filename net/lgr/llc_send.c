// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending LLC messages, and the messages that wait for room in the send queue.
 */
#include <linux/slab.h>
#include "base/netns.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_run_impl.h"

/*
 * smcr_tx_pend.mark of an LLC message: llc.first_no when the message is posted, the event
 * that its send completion posts, and the slot of that event
 */
#define LLC_MARK(no_, report_, about_)	((u64)(no_) << 16 | (report_) << 8 | (about_))

/* Send completion of a message with @report: post that event. Context: any up to softirq */
static void llc_sent(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_lgr *lgr = pend->arg;
	u8 report = pend->mark >> 8;
	u8 about = pend->mark;

	if (!ok)	/* the link has failed, and LINK_DOWN reports that */
		return;
	if (report == SMCR_LGR_EV_FIRST_SENT) {
		WRITE_ONCE(lgr->llc.sent_no, pend->mark >> 16);
		about = 0;
	}
	smcr_lgr_post(lgr, report, about);
}

/**
 * smcr_llc_post() - post one LLC message
 * @lgr: group; it outlives its links and their send completions
 * @link: link to post on; the caller has a reference, or is the group's work. NULL: the link
 *	has left its slot
 * @msg: message
 * @report: event that the send completion posts, enum smcr_lgr_evt, or SMCR_LGR_NO_REPORT
 * @about: slot of that event
 *
 * Context: any up to softirq; with @report the group's work only.
 * Return: 0; -ENOTCONN link is down; -EAGAIN send queue full.
 */
int smcr_llc_post(struct smcr_lgr *lgr, struct smcr_link *link,
		  const struct smcr_llc *msg, u8 report, u8 about)
{
	u8 buf[SMCR_MSG_MAX];
	struct smcr_post post = {
		.msg = buf,
		.done = report ? llc_sent : NULL,
		.arg = lgr,
	};
	int rc;

	if (!link)
		return -ENOTCONN;
	if (report == SMCR_LGR_EV_FIRST_SENT)
		WRITE_ONCE(lgr->llc.first_no, lgr->llc.first_no + 1);
	lgr->dialect->encode(msg, READ_ONCE(link->llc_form), buf);
	trace_smcr_llc(true, lgr->id, msg->type, msg->reply);
	post.mark = LLC_MARK(READ_ONCE(lgr->llc.first_no), report, about);
	rc = smcr_link_post(link, &post);
	if (!rc)
		smcr_count(lgr->sn, SMCR_CNT_LLC_TX);
	return rc;
}

void smcr_llc_fail(struct smcr_lgr *lgr, u8 slot, enum smcr_reason why)
{
	struct smcr_link *link = smcr_slot_link(&lgr->slot[slot]);

	if (link)
		smcr_link_fail(link, why);
}

/*
 * Queue a message that has to wait for room in the send queue. If SMCR_LLC_QUEUE_MAX
 * messages wait already, or memory is short, the link fails.
 */
static void llc_put_late(struct smcr_lgr *lgr, u8 slot,
			 const struct smcr_llc *msg, u8 report, u8 about)
{
	struct smcr_llc_item *item;

	if (lgr->llc.n_late >= SMCR_LLC_QUEUE_MAX) {
		smcr_llc_fail(lgr, slot, SMCR_R_LLC_FLOOD);
		return;
	}
	item = kmalloc(sizeof(*item), GFP_KERNEL);
	if (!item) {
		smcr_llc_fail(lgr, slot, SMCR_R_NO_MEMORY);
		return;
	}
	item->slot = slot;
	item->msg = *msg;
	item->report = report;
	item->about = about;
	list_add_tail(&item->node, &lgr->llc.late);
	lgr->llc.n_late++;
}

static bool llc_any_late(const struct smcr_lgr *lgr, u8 slot)
{
	const struct smcr_llc_item *item;

	list_for_each_entry(item, &lgr->llc.late, node)
		if (item->slot == slot)
			return true;
	return false;
}

/*
 * smcr_llc_post() on the link in @slot. After a message with @report, the state machine always
 * gets that event or LINK_DOWN. So if the link is down, smcr_lgr_not_sent() posts LINK_DOWN.
 * Otherwise both events might be missing: a stopped link reports no failure, and LINK_DOWN of
 * a failed link may have been processed before this call.
 */
static int llc_try(struct smcr_lgr *lgr, u8 slot, const struct smcr_llc *msg,
		   u8 report, u8 about)
{
	int rc = smcr_llc_post(lgr, smcr_slot_link(&lgr->slot[slot]), msg, report,
			       about);

	if (rc == -ENOTCONN && report)
		smcr_lgr_not_sent(lgr, slot);
	return rc;
}

/*
 * Send a message. If the send queue has no room, the message waits. The messages of one link
 * stay in order. Context: the group's work.
 */
void smcr_llc_send(struct smcr_lgr *lgr, u8 slot, const struct smcr_llc *msg,
		   u8 report, u8 about)
{
	if (llc_any_late(lgr, slot) ||
	    llc_try(lgr, slot, msg, report, about) == -EAGAIN)
		llc_put_late(lgr, slot, msg, report, about);
}

/* Send the messages that wait for room; true: some still wait. Context: the group's work. */
bool smcr_llc_send_late(struct smcr_lgr *lgr)
{
	struct smcr_llc_item *item, *tmp;
	u32 full = 0;

	list_for_each_entry_safe(item, tmp, &lgr->llc.late, node) {
		if (!(full & BIT(item->slot)) &&
		    llc_try(lgr, item->slot, &item->msg, item->report,
			    item->about) == -EAGAIN)
			full |= BIT(item->slot);
		if (full & BIT(item->slot))
			continue;
		list_del(&item->node);
		lgr->llc.n_late--;
		kfree(item);
	}
	return full;
}
