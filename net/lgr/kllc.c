// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC messages of the peer. They are decoded in softirq, queued, and handled in
 * order by one work per group; what to do with each one is the core's decision
 * (core/llc_seq.c, RFC 7609 3.5.5.3 and C.7.1).
 */
#include "core/lgr_plan.h"
#include "lgr/kllc.h"
#include "base/trace.h"
#include "lgr/llc_impl.h"

static void smcr_llc_work(struct work_struct *work);

/**
 * smcr_llc_init() - LLC part of a new group
 * @lgr: group
 */
void smcr_llc_init(struct smcr_lgr *lgr)
{
	spin_lock_init(&lgr->llc_lock);
	INIT_LIST_HEAD(&lgr->llc_queue);
	INIT_LIST_HEAD(&lgr->llc_later);
	INIT_WORK(&lgr->llc_work, smcr_llc_work);
	INIT_LIST_HEAD(&lgr->llc_out);
	INIT_DELAYED_WORK(&lgr->test_work, smcr_llc_test_work);
	INIT_DELAYED_WORK(&lgr->llc_out_work, smcr_llc_out_work);
	lgr->seq.server = lgr->server;
}

static void smcr_llc_purge(struct list_head *list)
{
	struct smcr_llc_item *item, *tmp;

	list_for_each_entry_safe(item, tmp, list, node) {
		list_del(&item->node);
		kfree(item);
	}
}

/**
 * smcr_llc_stop() - no LLC any more
 * @lgr: group whose link is stopped: nothing arrives
 *
 * Context: process, sleeps. Must not run on the group's LLC work.
 */
void smcr_llc_stop(struct smcr_lgr *lgr)
{
	LIST_HEAD(dead);

	if (cancel_delayed_work_sync(&lgr->test_work))
		smcr_lgr_put(lgr);
	if (cancel_work_sync(&lgr->llc_work))
		smcr_lgr_put(lgr);
	/* after what queues it */
	if (cancel_delayed_work_sync(&lgr->llc_out_work))
		smcr_lgr_put(lgr);
	spin_lock_bh(&lgr->llc_lock);
	list_splice_init(&lgr->llc_queue, &dead);
	list_splice_init(&lgr->llc_later, &dead);
	list_splice_init(&lgr->llc_out, &dead);
	lgr->llc_n_out = 0;
	lgr->llc_len = 0;
	spin_unlock_bh(&lgr->llc_lock);
	smcr_llc_purge(&dead);
}

/**
 * smcr_llc_expect() - arm an exchange before its request is sent
 * @lgr: group
 * @xchg: enum smcr_llc_xchg
 * @type: enum smcr_llc_type awaited
 * @reply: its reply form
 */
void smcr_llc_expect(struct smcr_lgr *lgr, u8 xchg, u8 type, bool reply)
{
	spin_lock_bh(&lgr->llc_lock);
	lgr->seq.xchg = xchg;
	lgr->seq.awaits = type;
	lgr->seq.awaits_reply = reply;
	lgr->answer_valid = false;
	spin_unlock_bh(&lgr->llc_lock);
}

/* Caller holds a reference of its own; the work gets another one */
static void smcr_llc_kick(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (!queue_work(smcr_wq, &lgr->llc_work))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_done() - the exchange is over
 * @lgr: group
 *
 * What was kept for afterwards is handled now (LLC-91); a late answer to an
 * exchange that ran into its timeout is ignored (I-20).
 */
void smcr_llc_done(struct smcr_lgr *lgr)
{
	bool more;

	spin_lock_bh(&lgr->llc_lock);
	if (!lgr->answer_valid && lgr->seq.awaits < ARRAY_SIZE(lgr->late_ok))
		lgr->late_ok[lgr->seq.awaits] = true;
	lgr->seq.xchg = SMCR_XCHG_NONE;
	lgr->seq.awaits = 0;
	lgr->answer_valid = false;
	list_splice_tail_init(&lgr->llc_later, &lgr->llc_queue);
	more = !list_empty(&lgr->llc_queue);
	spin_unlock_bh(&lgr->llc_lock);
	if (more)
		smcr_llc_kick(lgr);
}

/**
 * smcr_llc_answered() - has what smcr_llc_expect() announced arrived?
 * @lgr: group
 *
 * Context: any.
 */
bool smcr_llc_answered(const struct smcr_lgr *lgr)
{
	return READ_ONCE(lgr->answer_valid);
}

static bool smcr_llc_settled(const struct smcr_lgr *lgr)
{
	return smcr_llc_answered(lgr) ||
	       smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

/**
 * smcr_llc_wait() - wait for what smcr_llc_expect() announced
 * @lgr: group
 * @out: the message
 * @ms: bound; 0: only look
 *
 * Context: process, sleeps if @ms is not 0.
 * Return: 0; -ETIMEDOUT; -ENOTCONN group is dead.
 */
int smcr_llc_wait(struct smcr_lgr *lgr, struct smcr_llc *out, unsigned int ms)
{
	int rc;

	if (!wait_event_timeout(lgr->wait, smcr_llc_settled(lgr),
				msecs_to_jiffies(ms)))
		return -ETIMEDOUT;

	rc = -ENOTCONN;
	spin_lock_bh(&lgr->llc_lock);
	if (lgr->answer_valid) {
		*out = lgr->answer;
		rc = 0;
	}
	spin_unlock_bh(&lgr->llc_lock);
	return rc;
}

/* CONFIRM RKEY of the peer: with one link there are no other-link entries */
static void smcr_llc_got_confirm_rkey(struct smcr_lgr *lgr,
				      struct smcr_llc *msg)
{
	struct smcr_llc_confirm_rkey *ck = &msg->confirm_rkey;

	msg->reply = true;
	ck->retry = false;
	ck->negative = ck->n_other != 0;
	if (ck->negative)	/* a link that is not there (LLC-64) */
		smcr_hit(lgr->sn, SMCR_R_LLC_VALUE, lgr->id, 0);
	else if (smcr_lgr_add_rtoken(lgr, ck->rkey, ck->va) < 0)
		ck->negative = true;
	if (ck->negative)
		net_info_ratelimited("smcr: link group %u, peer %*phN: RKey 0x%x refused\n",
				     lgr->id, (int)sizeof(lgr->peer.id),
				     lgr->peer.id, ck->rkey);
	smcr_llc_reply(lgr, msg);
}

static void smcr_llc_got_delete_rkey(struct smcr_lgr *lgr,
				     struct smcr_llc *msg)
{
	struct smcr_llc_delete_rkey *dk = &msg->delete_rkey;
	int i;

	msg->reply = true;
	dk->error_mask = 0;
	for (i = 0; i < dk->count; i++) {
		if (smcr_lgr_del_rtoken(lgr, dk->rkey[i])) {
			dk->error_mask |= 0x80 >> i;
			net_info_ratelimited("smcr: link group %u, peer %*phN withdraws RKey 0x%x that is unknown or in use\n",
					     lgr->id,
					     (int)sizeof(lgr->peer.id),
					     lgr->peer.id, dk->rkey[i]);
			smcr_hit(lgr->sn, SMCR_R_LLC_RKEY, lgr->id, 0);
		}
	}
	dk->negative = dk->error_mask != 0;
	smcr_llc_reply(lgr, msg);
}

/* An offer of a second link: none here, so in the proper way no */
static void smcr_llc_refuse_link(struct smcr_lgr *lgr,
				 const struct smcr_llc *msg)
{
	struct smcr_llc no;

	if (lgr->server)	/* a client's notice wants no answer (LG-31) */
		return;
	smcr_llc_reject_add_link(lgr, &msg->add_link, &no);
	smcr_llc_reply(lgr, &no);
}

/**
 * smcr_llc_reject_add_link() - negative reply to ADD LINK (LG-20, LLC-29)
 * @lgr: client-role group of one link
 * @req: the server's offer
 * @no: the reply to send
 */
void smcr_llc_reject_add_link(struct smcr_lgr *lgr,
			      const struct smcr_llc_add_link *req,
			      struct smcr_llc *no)
{
	bool same = !memcmp(req->gid, lgr->link->peer_gid, sizeof(req->gid)) &&
		    !memcmp(req->mac, lgr->link->peer_mac, sizeof(req->mac));

	memset(no, 0, sizeof(*no));
	no->type = SMCR_LLC_ADD_LINK;
	no->reply = true;
	no->add_link.rejected = true;
	no->add_link.link_num = req->link_num;
	no->add_link.reject_reason =
		smcr_add_link_decide(req, same, false) ==
		SMCR_ADD_LINK_REJECT_MTU ? SMCR_ADD_LINK_BAD_MTU :
					   SMCR_ADD_LINK_NO_ALT_PATH;
}

static void smcr_llc_unknown_link(struct smcr_lgr *lgr, u8 num)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_DELETE_LINK,
		.reply = true,
		.delete_link = {
			.link_num = num,
			.reason = SMCR_DEL_UNKNOWN_LINK,
		},
	};

	smcr_llc_reply(lgr, &msg);
}

/*
 * A client asks, and the server's own request follows (LLC-47); what a server
 * says is answered by a reply (LG-36).
 */
static void smcr_llc_got_delete_link(struct smcr_lgr *lgr,
				     const struct smcr_llc_delete_link *dl)
{
	if (dl->link_num != lgr->link->num)
		smcr_llc_unknown_link(lgr, dl->link_num);
	else	/* the only link: the group ends with it */
		smcr_lgr_kill_asked(lgr, SMCR_R_LINK_DELETED, dl);
}

static void smcr_llc_do(struct smcr_lgr *lgr, struct smcr_llc *msg)
{
	switch (msg->type) {
	case SMCR_LLC_TEST_LINK:
		if (msg->reply)
			smcr_llc_got_test_reply(lgr, msg);
		else
			smcr_llc_reply_test(lgr, msg);
		break;
	case SMCR_LLC_DELETE_LINK:
		if (!msg->reply)
			smcr_llc_got_delete_link(lgr, &msg->delete_link);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		smcr_llc_got_confirm_rkey(lgr, msg);
		break;
	case SMCR_LLC_DELETE_RKEY:
		smcr_llc_got_delete_rkey(lgr, msg);
		break;
	case SMCR_LLC_ADD_LINK:
		smcr_llc_refuse_link(lgr, msg);
		break;
	default:
		/* CONFIRM LINK, continuations: only inside an exchange */
		smcr_llc_fail(lgr, SMCR_R_LLC_UNEXPECTED);
	}
}

static void smcr_llc_refuse(struct smcr_lgr *lgr, struct smcr_llc *msg)
{
	msg->reply = true;
	if (msg->type == SMCR_LLC_CONFIRM_RKEY) {
		msg->confirm_rkey.negative = true;
		msg->confirm_rkey.retry = true;
	} else {	/* the rest of the message is echoed (LLC-59) */
		msg->confirm_rkey_cont.negative = true;
	}
	smcr_llc_reply(lgr, msg);
}

/* One message; true if @item was kept */
static bool smcr_llc_handle(struct smcr_lgr *lgr, struct smcr_llc_item *item)
{
	enum smcr_llc_verdict verdict;
	bool late;

	/* the link is to go: its commands are stale (LLC-54) */
	if (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	    item->msg.type != SMCR_LLC_TEST_LINK)
		return false;
	spin_lock_bh(&lgr->llc_lock);
	if (item->msg.type == SMCR_LLC_TEST_LINK)	/* several probes */
		late = lgr->test_owed;
	else
		late = item->msg.type < ARRAY_SIZE(lgr->late_ok) &&
		       lgr->late_ok[item->msg.type];
	verdict = smcr_llc_classify(&lgr->seq, &item->msg, late);
	if (verdict == SMCR_LLC_IGNORE &&
	    item->msg.type == SMCR_LLC_TEST_LINK)
		lgr->test_owed--;
	if (verdict == SMCR_LLC_ANSWER && item->msg.type == SMCR_LLC_TEST_LINK)
		verdict = SMCR_LLC_DO;		/* nobody sleeps for it */
	if (verdict == SMCR_LLC_ANSWER && lgr->answer_valid)
		verdict = SMCR_LLC_FAIL;	/* the same answer twice */
	if (verdict == SMCR_LLC_ANSWER) {
		lgr->answer = item->msg;
		WRITE_ONCE(lgr->answer_valid, true);
	} else if (verdict == SMCR_LLC_QUEUE) {
		list_add_tail(&item->node, &lgr->llc_later);
	}
	spin_unlock_bh(&lgr->llc_lock);

	switch (verdict) {
	case SMCR_LLC_ANSWER:
		wake_up_all(&lgr->wait);
		break;
	case SMCR_LLC_DO:
		smcr_llc_do(lgr, &item->msg);
		break;
	case SMCR_LLC_REFUSE:
		smcr_llc_refuse(lgr, &item->msg);
		break;
	case SMCR_LLC_FAIL:
		smcr_llc_fail(lgr, SMCR_R_LLC_UNEXPECTED);
		break;
	case SMCR_LLC_QUEUE:
		return true;
	case SMCR_LLC_IGNORE:
		break;
	}
	return false;
}

static void smcr_llc_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(work, struct smcr_lgr, llc_work);
	struct smcr_llc_item *item;

	for (;;) {
		spin_lock_bh(&lgr->llc_lock);
		item = list_first_entry_or_null(&lgr->llc_queue,
						struct smcr_llc_item, node);
		if (item)
			list_del(&item->node);
		spin_unlock_bh(&lgr->llc_lock);
		if (!item)
			break;
		if (smcr_llc_handle(lgr, item))
			continue;	/* kept, and counted */
		kfree(item);
		spin_lock_bh(&lgr->llc_lock);
		lgr->llc_len--;
		spin_unlock_bh(&lgr->llc_lock);
	}
	smcr_lgr_put(lgr);
}

/*
 * What ends a group takes effect here, in softirq: the reset of the TCP
 * connections that follows it must not be the first that they hear of it.
 */
static bool smcr_llc_rx_delete(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	bool over = smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;

	if (msg->type != SMCR_LLC_DELETE_LINK)
		return false;
	if (over && lgr->server == msg->reply)	/* the answer to ours */
		smcr_lgr_del_heard(lgr);
	if (over)
		return true;
	if (msg->reply || !msg->delete_link.all)
		return false;
	if (lgr->server)	/* its own request follows (LG-41) */
		smcr_lgr_kill_asked(lgr, SMCR_R_LGR_DELETED,
				    &msg->delete_link);
	else
		smcr_lgr_kill(lgr, SMCR_R_LGR_DELETED, 0);
	return true;
}

/**
 * smcr_llc_rx() - an LLC message arrived on a link
 * @link: link
 * @buf: SMCR_WR_LEN bytes
 *
 * Queued for the work, bounded: LLC must not hold up data (LLC-14).
 *
 * Context: softirq, or process on a software device.
 */
void smcr_llc_rx(struct smcr_link *link, const u8 *buf)
{
	struct smcr_lgr *lgr = link->lgr;
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_llc_item *item;
	struct smcr_llc msg;
	bool flood;
	int rc;

	smcr_count(lgr->sn, SMCR_CNT_LLC_RX);
	rc = smcr_llc_decode(buf, SMCR_WR_LEN, link->llc_form, &msg, &why);
	if (rc == -ENOMSG) {
		smcr_hit(lgr->sn, why, lgr->id, 0);
		return;
	}
	if (rc) {
		smcr_llc_fail(lgr, why);
		return;
	}
	trace_smcr_llc(false, lgr->id, msg.type, msg.reply);
	if (smcr_llc_rx_delete(lgr, &msg))
		return;
	item = kmalloc(sizeof(*item), GFP_ATOMIC);
	if (!item) {	/* as if it were lost: the exchange's timer runs */
		smcr_hit(lgr->sn, SMCR_R_NO_MEMORY, lgr->id, 0);
		return;
	}
	item->msg = msg;
	spin_lock_bh(&lgr->llc_lock);
	flood = lgr->llc_len >= SMCR_LLC_QUEUE_MAX;
	if (!flood) {
		list_add_tail(&item->node, &lgr->llc_queue);
		lgr->llc_len++;
	}
	spin_unlock_bh(&lgr->llc_lock);
	if (flood) {
		kfree(item);
		smcr_llc_fail(lgr, SMCR_R_LLC_FLOOD);
		return;
	}
	smcr_llc_kick(lgr);
}
