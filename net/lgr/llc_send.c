// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC messages on their way out, and those that wait for room.
 */
#include <linux/slab.h>
#include "lgr/llc.h"
#include "base/netns.h"
#include "base/trace.h"
#include "lgr/lgr_impl.h"
#include "lgr/llc_impl.h"

/* What smcr_tx_pend.mark holds: whose completion it is */
#define LLC_MARK(no_, tag_, about_)	((u64)(no_) << 16 | (tag_) << 8 | (about_))

/* Send completion of a message that somebody waits for; softirq */
static void llc_sent(struct smcr_tx_pend *pend, bool ok)
{
	struct smcr_lgr *lgr = pend->arg;
	u8 about = pend->mark;

	if (!ok)	/* the link has failed: that is news of its own */
		return;
	switch ((u8)(pend->mark >> 8)) {
	case SMCR_TAG_FIRST:
		WRITE_ONCE(lgr->llc.sent_no, pend->mark >> 16);
		smcr_llc_news(lgr, SMCR_NEWS_SENT);
		break;
	case SMCR_TAG_ANSWER:
		smcr_llc_news(lgr, SMCR_NEWS_ANSWERED + about);
		break;
	case SMCR_TAG_END:
		smcr_llc_news(lgr, SMCR_NEWS_TOLD + about);
		break;
	}
}

/**
 * smcr_llc_post() - post one LLC message
 * @lgr: group; it outlives its links, and so their completions
 * @link: on which link; the caller keeps it. NULL: there is none any more
 * @msg: message
 * @tag: enum smcr_lgr_tag: what its completion is for
 * @about: for @tag
 *
 * Context: any up to softirq; with a tag the group's work only.
 * Return: 0; -ENOTCONN link is down; -EAGAIN send queue full.
 */
int smcr_llc_post(struct smcr_lgr *lgr, struct smcr_link *link,
		  const struct smcr_llc *msg, u8 tag, u8 about)
{
	u8 buf[SMCR_MSG_MAX];
	int rc;

	if (!link)
		return -ENOTCONN;
	if (tag == SMCR_TAG_FIRST)
		WRITE_ONCE(lgr->llc.first_no, lgr->llc.first_no + 1);
	lgr->dialect->encode(msg, READ_ONCE(link->llc_form), buf);
	trace_smcr_llc(true, lgr->id, msg->type, msg->reply);
	rc = smcr_link_post(link, NULL, 0, buf, tag ? llc_sent : NULL, lgr,
			    LLC_MARK(READ_ONCE(lgr->llc.first_no), tag, about), 0, NULL);
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

/* Behind those that wait already. A peer that takes nothing gets no more. */
static void llc_put_late(struct smcr_lgr *lgr, u8 slot,
			 const struct smcr_llc *msg, u8 tag, u8 about)
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
	item->tag = tag;
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
 * As smcr_llc_post(). A message with a tag is followed by SENT, or by DOWN of its link: also
 * when that has been reported before, as that of a link that was stopped is not.
 */
static int llc_try(struct smcr_lgr *lgr, u8 slot, const struct smcr_llc *msg,
		   u8 tag, u8 about)
{
	int rc = smcr_llc_post(lgr, smcr_slot_link(&lgr->slot[slot]), msg, tag,
			       about);

	if (rc == -ENOTCONN && tag)
		smcr_lgr_not_sent(lgr, slot);
	return rc;
}

/*
 * A message to the peer, now or when the send queue has room, in their order on
 * each link. Context: the group's work.
 */
void smcr_llc_send(struct smcr_lgr *lgr, u8 slot, const struct smcr_llc *msg,
		   u8 tag, u8 about)
{
	if (llc_any_late(lgr, slot) ||
	    llc_try(lgr, slot, msg, tag, about) == -EAGAIN)
		llc_put_late(lgr, slot, msg, tag, about);
}

/* Those that wait; true: some still do. Context: the group's work. */
bool smcr_llc_send_late(struct smcr_lgr *lgr)
{
	struct smcr_llc_item *item, *tmp;
	u32 full = 0;

	list_for_each_entry_safe(item, tmp, &lgr->llc.late, node) {
		if (!(full & BIT(item->slot)) &&
		    llc_try(lgr, item->slot, &item->msg, item->tag,
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
