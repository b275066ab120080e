// SPDX-License-Identifier: GPL-2.0-only
/*
 * LLC in the kernel: messages are decoded in softirq, queued, and handled in
 * order by one work per group; what to do with each one is the core's decision
 * (core/llc_seq.c, RFC 7609 3.5.5.3 and C.7.1).
 */
#include <linux/random.h>
#include "core/cdc.h"
#include "core/lgr_plan.h"
#include "conn.h"
#include "keepalive.h"
#include "kllc.h"
#include "pernet.h"
#include "trace.h"

/* Messages a peer may have queued; a conforming one never has more than a few */
#define SMCR_LLC_QUEUE_MAX	32

static void smcr_llc_work(struct work_struct *work);
static void smcr_llc_test_work(struct work_struct *work);
static void smcr_llc_out_work(struct work_struct *work);

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

static void smcr_llc_arm_test(struct smcr_lgr *lgr, unsigned long delay)
{
	if (!delay)
		return;
	smcr_lgr_hold(lgr);
	/* a group that has ended meanwhile is not kept for that long */
	if (!queue_delayed_work(smcr_wq, &lgr->test_work, delay) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test_work)))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_start() - the group is active: watch idle links with TEST LINK
 * @lgr: group
 */
void smcr_llc_start(struct smcr_lgr *lgr)
{
	smcr_llc_arm_test(lgr, smcr_knob_jiffies(lgr->sn, t_testlink));
}

/* A link with a pending close is looked after this soon */
#define SMCR_LLC_PROBE	HZ

/**
 * smcr_llc_probe() - somebody waits for completions on this link
 * @lgr: group
 *
 * If the link falls silent, TEST LINK is sent soon and not after t_testlink:
 * its acknowledgment covers what was posted before, should that one be lost,
 * and a dead peer shows. Context: any.
 */
void smcr_llc_probe(struct smcr_lgr *lgr)
{
	/* one that is under way has its T_LLC, unless it is keepalive's */
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE ||
	    (READ_ONCE(lgr->seq.test_pending) &&
	     !READ_ONCE(lgr->test_patient)) || xchg(&lgr->probe, 1))
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->test_work, SMCR_LLC_PROBE))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_look() - when TEST LINK is due may have changed
 * @lgr: group
 *
 * Context: any.
 */
void smcr_llc_look(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->test_work, 0) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test_work)))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_verify() - is the peer's end of the link still there?
 * @lgr: group
 *
 * TEST LINK is sent now, silence or not, and fails the link if it is not
 * answered within T_LLC. Context: any.
 */
void smcr_llc_verify(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	xchg(&lgr->verify, 1);
	smcr_llc_look(lgr);
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

static void smcr_llc_fail(struct smcr_lgr *lgr, enum smcr_reason why)
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
static void smcr_llc_reply(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	if (READ_ONCE(lgr->llc_n_out) ||
	    smcr_llc_send(lgr, msg) == -EAGAIN)
		smcr_llc_put_out(lgr, msg);
}

static void smcr_llc_out_work(struct work_struct *work)
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

static void smcr_llc_reply_test(struct smcr_lgr *lgr, struct smcr_llc *msg)
{
	smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_RX);
	msg->reply = true;
	smcr_llc_reply(lgr, msg);
}

static void smcr_llc_got_test_reply(struct smcr_lgr *lgr,
				    const struct smcr_llc *msg)
{
	bool same;

	spin_lock_bh(&lgr->llc_lock);
	same = !memcmp(lgr->test_data, msg->test_link.data,
		       sizeof(lgr->test_data));
	lgr->seq.test_pending = false;
	lgr->test_keep = false;
	lgr->test_patient = false;
	lgr->test_owed--;
	spin_unlock_bh(&lgr->llc_lock);
	if (!same) {
		smcr_llc_fail(lgr, SMCR_R_LLC_TEST_DATA);
		return;
	}
	smcr_lgr_trust(lgr);
	smcr_llc_look(lgr);
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

/* Softirq: queue for the work, bounded (LLC must not hold up data, LLC-14) */
static void smcr_llc_rx(struct smcr_lgr *lgr, const u8 *buf, u32 len)
{
	enum smcr_reason why = SMCR_R_NONE;
	struct smcr_llc_item *item;
	struct smcr_llc msg;
	bool flood;
	int rc;

	smcr_count(lgr->sn, SMCR_CNT_LLC_RX);
	rc = smcr_llc_decode(buf, len, lgr->link->llc_form, &msg, &why);
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

/* smcr_link_ops.rx: softirq */
static void smcr_link_rx(struct smcr_link *link, const u8 *buf, u32 len)
{
	enum smcr_reason why = SMCR_R_LLC_LENGTH;
	struct smcr_lgr *lgr = link->lgr;
	struct smcr_cdc cdc;

	if (len != SMCR_WR_LEN) {	/* MISC-13 */
		smcr_link_fail(link, why);
		return;
	}
	if (!smcr_wr_is_cdc(buf)) {
		smcr_llc_rx(lgr, buf, len);
		return;
	}
	if (smcr_cdc_decode(buf, len, &cdc, &why))
		smcr_link_fail(link, why);
	else
		smcr_conn_rx_cdc(lgr, &cdc);
}

/* smcr_link_ops.down: any context. The last link: the group ends (CONN-32). */
static void smcr_link_down(struct smcr_link *link, enum smcr_reason why)
{
	struct smcr_lgr *lgr = link->lgr;

	/* keepalive asked, and this is its answer (KA-04) */
	if (READ_ONCE(lgr->test_keep) &&
	    (why == SMCR_R_LINK_ERROR || why == SMCR_R_LLC_TIMEOUT))
		why = SMCR_R_KEEPALIVE;
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD)
		smcr_count(lgr->sn, SMCR_CNT_LINK_DOWN);
	trace_smcr_link(lgr->id, link->num, link->st, why);
	smcr_lgr_kill(lgr, why, 0);
	smcr_lgr_end_kick(lgr);
}

const struct smcr_link_ops smcr_link_ops = {
	.rx = smcr_link_rx,
	.down = smcr_link_down,
	.room = smcr_tx_room,
};

/*
 * An own RKEY exchange: 0 and the reply, whatever it says. -EBUSY another
 * exchange is under way (LLC-15); no reply: the link has failed (LLC-63).
 */
static int smcr_llc_rkey_xchg(struct smcr_lgr *lgr, const struct smcr_llc *msg,
			      struct smcr_llc *answer)
{
	bool busy;
	int rc;

	spin_lock_bh(&lgr->llc_lock);
	busy = lgr->seq.xchg != SMCR_XCHG_NONE;
	if (!busy) {
		lgr->seq.xchg = SMCR_XCHG_RKEY;
		lgr->seq.awaits = msg->type;
		lgr->seq.awaits_reply = true;
		lgr->answer_valid = false;
	}
	spin_unlock_bh(&lgr->llc_lock);
	if (busy)
		return -EBUSY;

	rc = smcr_llc_send(lgr, msg);
	if (!rc)
		rc = smcr_llc_wait(lgr, answer, READ_ONCE(lgr->sn->knobs.t_llc));
	smcr_llc_done(lgr);
	if (rc == -ETIMEDOUT) {
		smcr_count(lgr->sn, SMCR_CNT_T_LLC);
		smcr_llc_fail(lgr, SMCR_R_LLC_TIMEOUT);
	}
	return rc;
}

/* 0; -EAGAIN not now; -EREMOTEIO; -ENOTCONN, -ETIMEDOUT with the link failed */
static int smcr_llc_confirm_rkey_once(struct smcr_lgr *lgr,
				      const struct smcr_llc *msg)
{
	const struct smcr_llc_confirm_rkey *ck;
	struct smcr_llc answer;
	int rc;

	rc = smcr_llc_rkey_xchg(lgr, msg, &answer);
	if (rc)
		return rc == -EBUSY ? -EAGAIN : rc;
	ck = &answer.confirm_rkey;
	if (ck->rkey != msg->confirm_rkey.rkey) {	/* an echo it is not */
		smcr_llc_fail(lgr, SMCR_R_LLC_RKEY);
		return -ENOTCONN;
	}
	if (!ck->negative)
		return 0;
	net_info_ratelimited("smcr: link group %u: peer refuses RKey 0x%x%s\n",
			     lgr->id, ck->rkey, ck->retry ? " for now" : "");
	return ck->retry ? -EAGAIN : -EREMOTEIO;
}

/*
 * The peer, a server, changes the group (LLC-77, LLC-82). What it told us of
 * that came before its refusal and has been answered, so it is over for us; a
 * peer that says so all the time is asked no more.
 */
#define SMCR_LLC_RKEY_TRIES	4
#define SMCR_LLC_RKEY_PAUSE	msecs_to_jiffies(50)

/**
 * smcr_llc_confirm_rkey() - tell the peer of a new RMB
 * @lgr: active group
 * @rkey: key on the group's link
 * @va: address of the RMB there
 *
 * With one link the first entry is the whole set (LLC-56).
 *
 * Context: process, sleeps up to two times T_LLC.
 * Return: 0 when the peer knows the RMB; -EREMOTEIO it does not want it;
 * -EAGAIN not now, several times; -ENOTCONN or -ETIMEDOUT: the link has failed.
 */
int smcr_llc_confirm_rkey(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = rkey, .va = va },
	};
	unsigned long end = jiffies + smcr_knob_jiffies(lgr->sn, t_llc);
	int tries, rc;

	for (tries = 1; ; tries++) {
		rc = smcr_llc_confirm_rkey_once(lgr, &msg);
		if (rc != -EAGAIN || tries == SMCR_LLC_RKEY_TRIES ||
		    time_after(jiffies, end))
			return rc;
		wait_event_timeout(lgr->wait, smcr_lgr_state(lgr) ==
				   SMCR_LGR_ST_DEAD,
				   (tries - 1) * SMCR_LLC_RKEY_PAUSE);
	}
}

/**
 * smcr_llc_delete_rkey() - withdraw an RMB from the peer
 * @lgr: group
 * @rkey: key on the group's link
 *
 * Context: process, sleeps up to T_LLC.
 * Return: 0 when the peer has forgotten the key or never knew it (LLC-68);
 * else the RMB must be kept.
 */
int smcr_llc_delete_rkey(struct smcr_lgr *lgr, u32 rkey)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_DELETE_RKEY,
		.delete_rkey = { .count = 1, .rkey = { rkey } },
	};
	struct smcr_llc answer;
	int rc;

	rc = smcr_llc_rkey_xchg(lgr, &msg, &answer);
	if (!rc && answer.delete_rkey.negative)
		net_info_ratelimited("smcr: link group %u, peer %*phN does not know RKey 0x%x\n",
				     lgr->id, (int)sizeof(lgr->peer.id),
				     lgr->peer.id, rkey);
	return rc;
}

enum smcr_llc_test {
	SMCR_LLC_TEST_WAIT,
	SMCR_LLC_TEST_SEND,
	SMCR_LLC_TEST_FAIL,
};

/*
 * The table in Documentation/keepalive.rst. @idle: the link is to be tested,
 * whatever the connections want. *@next: when to look again, jiffies.
 */
static enum smcr_llc_test smcr_llc_test_step(struct smcr_lgr *lgr, bool idle,
					     const struct smcr_keepalive *ka,
					     long *next)
{
	long t_llc = max(smcr_knob_jiffies(lgr->sn, t_llc), 1UL);

	lockdep_assert_held(&lgr->llc_lock);
	if (!lgr->seq.test_pending) {
		if (!idle && ka->left > 0) {
			*next = ka->left;
			return SMCR_LLC_TEST_WAIT;
		}
		lgr->seq.test_pending = true;
		lgr->test_keep = ka->left <= 0;
		lgr->test_patient = !idle;
		lgr->test_left = ka->cnt - 1;
		lgr->test_begin = jiffies;
		lgr->test_intvl = ka->intvl;
		if (!lgr->test_owed)
			get_random_bytes(lgr->test_data,
					 sizeof(lgr->test_data));
	} else {
		/* only a silent peer gets keepalive's interval instead of T_LLC */
		if (lgr->test_patient &&
		    (idle || time_after(READ_ONCE(lgr->link->last_rx),
					lgr->test_at))) {
			lgr->test_patient = false;
			lgr->test_due = jiffies + t_llc;
		}
		*next = lgr->test_due - jiffies;
		if (*next > 0)
			return SMCR_LLC_TEST_WAIT;
		if (!lgr->test_patient)
			return SMCR_LLC_TEST_FAIL;
		if (lgr->test_left <= 0) {
			/* the link is shared: a short keepalive does not fail it before T_LLC */
			*next = lgr->test_begin + t_llc - jiffies;
			return *next > 0 ? SMCR_LLC_TEST_WAIT :
					   SMCR_LLC_TEST_FAIL;
		}
		lgr->test_left--;
	}
	lgr->test_owed++;
	*next = lgr->test_patient ? lgr->test_intvl : t_llc;
	lgr->test_at = jiffies;
	lgr->test_due = jiffies + *next;
	return SMCR_LLC_TEST_SEND;
}

/* How long until the link was silent for @watch; 0 or less: it is. */
static long smcr_llc_silent_in(const struct smcr_link *link,
			       unsigned long watch)
{
	long left = READ_ONCE(link->last_rx) + watch - jiffies;

	if (smcr_link_stuck(link, watch))
		return 0;
	if (left > 0 && atomic_read(&link->n_pend))	/* stuck before? */
		left = clamp((long)(READ_ONCE(link->last_tx) + watch -
				    jiffies), 1L, left);
	return left;
}

/*
 * TEST LINK is sent when the link was silent for a while, also without
 * connections, since a client would otherwise keep the group of a server that is
 * gone for ever; and when the keepalive of a connection asks for it.
 */
static void smcr_llc_test_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, test_work);
	struct smcr_llc msg = { .type = SMCR_LLC_TEST_LINK };
	unsigned long watch = smcr_knob_jiffies(lgr->sn, t_testlink);
	long next = LONG_MAX, quiet = LONG_MAX;
	struct smcr_keepalive ka;
	enum smcr_llc_test what;
	bool probe, idle, wait;

	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		goto out;
	probe = xchg(&lgr->probe, 0);
	if (probe)
		watch = SMCR_LLC_PROBE;
	if (watch)
		quiet = smcr_llc_silent_in(lgr->link, watch);
	idle = xchg(&lgr->verify, 0) || quiet <= 0;
	smcr_keepalive_due(lgr, &ka);

	spin_lock_bh(&lgr->llc_lock);
	wait = lgr->seq.test_pending;
	what = smcr_llc_test_step(lgr, idle, &ka, &next);
	memcpy(msg.test_link.data, lgr->test_data, sizeof(lgr->test_data));
	spin_unlock_bh(&lgr->llc_lock);

	switch (what) {
	case SMCR_LLC_TEST_WAIT:
		if (wait && probe)	/* armed meanwhile */
			WRITE_ONCE(lgr->probe, 1);
		if (!wait && probe)	/* not silent yet: look again as soon */
			smcr_llc_probe(lgr);
		break;
	case SMCR_LLC_TEST_SEND:
		smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_TX);
		if (!smcr_llc_send(lgr, &msg))
			break;
		/* not even the reserve of the send queue is left (LLC-12) */
		smcr_llc_fail(lgr, SMCR_R_LINK_ERROR);
		goto out;
	case SMCR_LLC_TEST_FAIL:
		smcr_count(lgr->sn, SMCR_CNT_T_TESTLINK);
		smcr_llc_fail(lgr, SMCR_R_LLC_TIMEOUT);
		goto out;
	}
	if (quiet > 0)
		next = min(next, quiet);
	if (next != LONG_MAX)
		smcr_llc_arm_test(lgr, next);
out:
	smcr_lgr_put(lgr);
}
