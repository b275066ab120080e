// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work that runs the state machine of a link group (core/lgr_fsm.h).
 *
 * Messages are decoded in softirq and queued. A timer expires at its time in llc.due. Every
 * other event is a bit, set by smcr_lgr_post(). The work takes one message, event or timer
 * after the other, and passes it to the state machine. Before it takes the next one, it
 * carries out the actions that the machine returns (lgr_exec.c). The actions MAKE, UP, MOVE
 * and STOP sleep: the work of the link carries them out (link_work.c) and posts the event
 * MADE, UP, MOVED or STOPPED.
 *
 * The table shows each exchange at the server (first line) and at the client (second
 * line). The second column is the event or message that begins the exchange. The third
 * column has the actions (SMCR_LGR_DO_*) that follow, and the messages that are sent. A
 * semicolon ends a step: the next step begins when an event or a message has come. In
 * "X: Y, Z" the step "Y, Z" begins when X has come. A notice is the client's DELETE LINK,
 * which asks the server for its own DELETE LINK.
 *
 *	first contact	FIRST		MAKE link 2, UP link 1; CONFIRM LINK
 *			FIRST		CONFIRM LINK: UP link 1, reply
 *	a link is added	MADE		ADD LINK, RTokens; UP; CONFIRM LINK; LIVE
 *			ADD LINK	MAKE; reply, RTokens; CONFIRM LINK: UP, reply, LIVE
 *	one is deleted	WANT_DEL	MOVE; MOVED: DELETE LINK; reply: STOP
 *			DELETE LINK	MOVE; MOVED: reply; ANSWER_SENT: STOP
 *	one is lost	LINK_DOWN	MOVE, DELETE LINK; reply: STOP
 *			LINK_DOWN	MOVE, notice; DELETE LINK: reply; ANSWER_SENT: STOP
 *	the end		WANT_END	DELETE LINK for all; END_SENT or reply: RELEASE
 */
#include <linux/slab.h>
#include "base/netns.h"
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_rkey.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_run_impl.h"
#include "lgr/rmb.h"

static void llc_work(struct work_struct *work);

/**
 * smcr_lgr_run_init() - set up the LLC part of a new group
 * @lgr: group, zeroed; its role is set
 *
 * Context: process.
 */
void smcr_lgr_run_init(struct smcr_lgr *lgr)
{
	struct smcr_llc_run *run = &lgr->llc;

	spin_lock_init(&run->lock);
	INIT_LIST_HEAD(&run->queue);
	INIT_LIST_HEAD(&run->late);
	INIT_DELAYED_WORK(&run->work, llc_work);
	INIT_DELAYED_WORK(&lgr->test.work, smcr_llc_test_work);
	run->learning = -1;
	smcr_lgr_fsm_init(&run->fsm, lgr->server,
			  lgr->single ? 1 : lgr->terms.max_links);
	smcr_slot_init(lgr);
}

static void llc_purge(struct list_head *list)
{
	struct smcr_llc_item *item, *tmp;

	list_for_each_entry_safe(item, tmp, list, node) {
		list_del(&item->node);
		kfree(item);
	}
}

/**
 * smcr_lgr_run_free() - free messages that were neither processed nor sent
 * @lgr: group without references, so none of its works is queued
 */
void smcr_lgr_run_free(struct smcr_lgr *lgr)
{
	llc_purge(&lgr->llc.queue);
	llc_purge(&lgr->llc.late);
}

/**
 * smcr_lgr_run_stop() - end of LLC in a group
 * @lgr: group whose links are stopped: nothing arrives
 *
 * If the group's work is queued, it runs first, since the handshake of a first contact
 * waits for the outcome. Holders of a reference may queue the work again after that: then
 * it does nothing.
 *
 * Context: process, sleeps. Not called by llc.work, test.work or the works of links, for
 * which it waits.
 */
void smcr_lgr_run_stop(struct smcr_lgr *lgr)
{
	smcr_lgr_work_end(lgr, &lgr->test.work);
	flush_delayed_work(&lgr->llc.work);
	WRITE_ONCE(lgr->llc.over, true);
	smcr_lgr_work_end(lgr, &lgr->llc.work);
	/*
	 * Another thread may have set DEAD and not posted WANT_END yet. Then the state
	 * machine has not settled first contact, so do that here.
	 */
	smcr_lgr_publish_settled(lgr, SMCR_FIRST_RESET, lgr->why);
	smcr_slots_end(lgr);
}

/**
 * smcr_lgr_queue_run() - queue the work that runs the state machine of a group
 * @lgr: group; the caller has a reference, or is a callback of a link of the group
 *
 * Context: any up to softirq.
 */
void smcr_lgr_queue_run(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->llc.work, 0))
		smcr_lgr_put(lgr);
}

/**
 * smcr_lgr_post() - make an event of a link group pending
 * @lgr: group, as for smcr_lgr_queue_run()
 * @ev: event; MSG and TIMER are never pending. The caller has already written what
 *	fill_event() reads for the event
 * @slot: of the link that the event is about, 0 for the group
 *
 * Context: any up to softirq.
 */
void smcr_lgr_post(struct smcr_lgr *lgr, enum smcr_lgr_evt ev, u8 slot)
{
	/* pairs with take_pending(), which must not find the bit without the data */
	smp_mb__before_atomic();
	set_bit(SMCR_PENDING(ev, slot), lgr->llc.pending);
	smcr_lgr_queue_run(lgr);
}

/**
 * smcr_lgr_post_first() - first contact begins
 * @lgr: FORMING group whose link is ready to receive. At a client, the peer may send
 *	CONFIRM LINK from now on; at a server, the peer waits for it
 *
 * When first contact ends, lgr->wait is woken, and smcr_lgr_settled() has the outcome.
 *
 * Context: process.
 */
void smcr_lgr_post_first(struct smcr_lgr *lgr)
{
	smcr_lgr_post(lgr, SMCR_LGR_EV_FIRST, 0);
}

/**
 * smcr_lgr_settled() - how has first contact ended?
 * @lgr: group of smcr_lgr_post_first()
 * @res: set to the outcome
 * @why: set to the reason of a failure
 *
 * Context: any.
 * Return: false if it has not ended.
 */
bool smcr_lgr_settled(const struct smcr_lgr *lgr, enum smcr_first_res *res,
		      enum smcr_reason *why)
{
	/* pairs with smcr_lgr_publish_settled(): no old settled_why must be read below */
	u8 settled = smp_load_acquire(&lgr->llc.settled);

	if (!settled)
		return false;
	*res = settled - 1;
	*why = lgr->llc.settled_why;
	return true;
}

/*
 * Publish how first contact has ended. The caller has already posted the last message of
 * first contact. CONFIRM RKEY and further messages of the handshake, which follow this
 * call, must not overtake that message. If a group ends without an outcome,
 * smcr_lgr_run_stop() publishes RESET.
 */
void smcr_lgr_publish_settled(struct smcr_lgr *lgr, enum smcr_first_res res,
			      enum smcr_reason why)
{
	if (lgr->llc.settled)
		return;
	lgr->llc.settled_why = why;
	/* pairs with smcr_lgr_settled(), which must not read an old settled_why */
	smp_store_release(&lgr->llc.settled, res + 1);
	if (res == SMCR_FIRST_OK)
		smcr_lgr_kick_rmb_work(lgr);
	wake_up_all(&lgr->wait);
}

/*
 * DELETE LINK for the whole group takes effect here, in softirq, and not in the work. The
 * peer resets the TCP connections next, and each reset has to find the group DEAD: then
 * the connection ends with the reason of the group. A server answers with its own DELETE
 * LINK, which has the reason of the client's request (LG-41).
 */
static void llc_rx_end(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	if (msg->type != SMCR_LLC_DELETE_LINK || msg->reply ||
	    !msg->delete_link.all)
		return;
	smcr_lgr_kill(lgr, SMCR_R_LGR_DELETED,
		      lgr->server ? msg->delete_link.reason : 0);
}

/**
 * smcr_llc_rx() - an LLC message arrived on a link
 * @link: link
 * @buf: the message; the group's dialect defines its length (core/dialect.h)
 *
 * The message is queued for the work, since LLC must not hold up data (LLC-14). If
 * SMCR_LLC_QUEUE_MAX messages are queued already, the link fails.
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
	rc = lgr->dialect->decode(buf, lgr->dialect->msg_len,
				  READ_ONCE(link->llc_form), &msg, &why);
	if (rc == -ENOMSG) {
		smcr_report_reason(lgr->sn, why, lgr->id, 0);
		return;
	}
	if (rc) {
		smcr_link_fail(link, why);
		return;
	}
	trace_smcr_llc(false, lgr->id, msg.type, msg.reply);
	item = kmalloc(sizeof(*item), GFP_ATOMIC);
	if (!item) {	/* drop the message: the timer of its exchange runs */
		smcr_report_reason(lgr->sn, SMCR_R_NO_MEMORY, lgr->id, 0);
		return;
	}
	item->slot = link->slot;
	item->msg = msg;
	spin_lock_bh(&lgr->llc.lock);
	flood = lgr->llc.len >= SMCR_LLC_QUEUE_MAX;
	if (!flood) {
		list_add_tail(&item->node, &lgr->llc.queue);
		lgr->llc.len++;
	}
	spin_unlock_bh(&lgr->llc.lock);
	if (flood) {
		kfree(item);
		smcr_link_fail(link, SMCR_R_LLC_FLOOD);
		return;
	}
	/* the message is queued already, so the state machine gets it before WANT_END */
	llc_rx_end(lgr, &msg);
	smcr_lgr_queue_run(lgr);
}

/* Events */

static void run_event(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev)
{
	smcr_lgr_fsm_step(&lgr->llc.fsm, ev, &lgr->llc.out);
	smcr_lgr_exec(lgr);
}

/* Process the oldest message; false: there is none */
static bool take_msg(struct smcr_lgr *lgr)
{
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_MSG };
	struct smcr_llc_item *item;

	spin_lock_bh(&lgr->llc.lock);
	item = list_first_entry_or_null(&lgr->llc.queue, struct smcr_llc_item,
					node);
	if (item) {
		list_del(&item->node);
		lgr->llc.len--;
	}
	spin_unlock_bh(&lgr->llc.lock);
	if (!item)
		return false;
	ev.slot = item->slot;
	ev.msg = item->msg;
	kfree(item);
	if (ev.msg.type == SMCR_LLC_TEST_LINK) {
		smcr_llc_got_test(lgr, ev.slot, &ev.msg);
		return true;
	}
	smcr_lgr_read_facts(lgr, &ev);
	run_event(lgr, &ev);
	return true;
}

/* Fill in what belongs to a pending event of a link; false: the event is stale */
static bool fill_link_event(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev)
{
	struct smcr_lgr_link *slot = &lgr->slot[ev->slot];

	switch (ev->type) {
	case SMCR_LGR_EV_LINK_DOWN:
		spin_lock_bh(&lgr->lock);
		ev->why = slot->down_why;
		spin_unlock_bh(&lgr->lock);
		break;
	case SMCR_LGR_EV_MADE:
	case SMCR_LGR_EV_UP:
		ev->ok = slot->ok;
		ev->why = slot->why;
		ev->nic = slot->nic;
		ev->n = slot->n_tok;
		break;
	case SMCR_LGR_EV_MOVED:
		/* stale: outcome of an earlier MOVE; STAY followed, and now a newer MOVE */
		if (READ_ONCE(slot->moved_no) != slot->move_no)
			return false;
		slot->moving = false;
		break;
	case SMCR_LGR_EV_STOPPED:
		smcr_slot_stopped(lgr, ev->slot);
		break;
	case SMCR_LGR_EV_WANT_DEL:
		ev->orderly = true;
		ev->del_reason = SMCR_DEL_OPERATOR;
		break;
	}
	return true;
}

/*
 * Slot of the link to send DELETE RKEY on. The message names the RMB by its RKey on the
 * link that carries the message. The RMB has no RKey on a link that was added while the
 * RMB is being withdrawn, so such a link cannot carry the message. SMCR_NO_SLOT: the state
 * machine chooses the link.
 */
static u8 llc_rkey_del_via(const struct smcr_lgr *lgr)
{
	unsigned long named = lgr->llc.rkey.named;
	u8 oldest = smcr_lgr_send_slot(&lgr->llc.fsm);

	lockdep_assert_held(&lgr->llc.lock);
	if (!lgr->llc.rkey.del || !named ||
	    (oldest != SMCR_NO_SLOT && named & BIT(oldest)))
		return SMCR_NO_SLOT;
	return __ffs(named);
}

static void fill_rkey_event(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev)
{
	const struct smcr_llc_rkey *rkey = &lgr->llc.rkey;

	spin_lock_bh(&lgr->llc.lock);
	if (ev->type == SMCR_LGR_EV_WANT_RKEY) {
		ev->ok = rkey->del;
	} else {
		ev->ok = rkey->ok;
		ev->why = rkey->why;
		ev->slot = llc_rkey_del_via(lgr);
	}
	spin_unlock_bh(&lgr->llc.lock);
}

/* Fill in what belongs to a pending event; false: the event is stale */
static bool fill_event(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev)
{
	switch (ev->type) {
	case SMCR_LGR_EV_FIRST:
		ev->nic = smcr_lgr_own_nic(lgr, lgr->link->pid.mac);
		ev->peer_nic = smcr_lgr_peer_nic(lgr, lgr->link->peer_mac);
		return true;
	case SMCR_LGR_EV_FIRST_SENT:
		/*
		 * stale if the reply to the message has come before this event, and a later
		 * message is under way
		 */
		return READ_ONCE(lgr->llc.sent_no) == lgr->llc.first_no;
	case SMCR_LGR_EV_WANT_RKEY:
	case SMCR_LGR_EV_RKEY_READY:
		fill_rkey_event(lgr, ev);
		return true;
	case SMCR_LGR_EV_WANT_END:
		ev->why = lgr->why;
		ev->msg.delete_link = lgr->end.del;
		return true;
	default:
		return fill_link_event(lgr, ev);
	}
}

/* Process the first pending event, in the order of enum smcr_lgr_evt; false: there is none */
static bool take_pending(struct smcr_lgr *lgr)
{
	unsigned int bit = find_first_bit(lgr->llc.pending, NR_SMCR_PENDING);
	struct smcr_lgr_ev ev = { };

	if (bit >= NR_SMCR_PENDING)
		return false;
	/*
	 * Pairs with smcr_lgr_post(). This order is possible: find_first_bit() reads a word
	 * that has no bit set. Then an event with a bit in this word is posted, and after
	 * it the event that find_first_bit() finds in a later word. The first one has to be
	 * processed first, so search the lower bits again. Without the barrier, this search
	 * could miss that event, too.
	 */
	smp_rmb();
	bit = find_first_bit(lgr->llc.pending, bit);
	ev.type = bit / SMCR_SLOTS;
	ev.slot = bit % SMCR_SLOTS;
	clear_bit(bit, lgr->llc.pending);
	/* pairs with smcr_lgr_post(): data older than the bit must not be read below */
	smp_mb__after_atomic();
	if (fill_event(lgr, &ev))
		run_event(lgr, &ev);
	return true;
}

/*
 * Process a timer that has expired. False: none has; *@next is the time in jiffies until
 * the next one expires
 */
static bool take_timer(struct smcr_lgr *lgr, unsigned long *next)
{
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_TIMER };
	unsigned int i;
	long left;

	*next = MAX_JIFFY_OFFSET;
	for (i = 0; i < NR_SMCR_LGR_TIMER; i++) {
		if (!(lgr->llc.armed & BIT(i)))
			continue;
		left = lgr->llc.due[i] - jiffies;
		if (left > 0) {
			*next = min_t(unsigned long, *next, left);
			continue;
		}
		lgr->llc.armed &= ~BIT(i);
		if (i == SMCR_LGR_T_RETRY)
			smcr_count(lgr->sn, SMCR_CNT_T_LINK_RETRY);
		ev.timer = i;
		run_event(lgr, &ev);
		return true;
	}
	return false;
}

/*
 * Messages are processed before pending events: a message may have arrived on a link
 * before the link failed. At most SMCR_LLC_QUEUE_MAX messages are processed at a time, so
 * that a peer cannot hold up the events.
 */
static void llc_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, llc.work);
	unsigned long next;
	unsigned int n;

	smcr_race(lgr->sn->net, "llc-work");
	/* smcr_lgr_run_stop() sets this flag, then waits for a run that is under way */
	if (READ_ONCE(lgr->llc.over)) {
		smcr_lgr_put(lgr);
		return;
	}
	do {
		cond_resched();
		/*
		 * FIRST is processed before all messages: until then slot 0 is
		 * SMCR_SLOT_FREE, and the state machine would drop messages that came on
		 * its link.
		 */
		if (test_bit(SMCR_PENDING(SMCR_LGR_EV_FIRST, 0), lgr->llc.pending))
			take_pending(lgr);
		for (n = 0; n < SMCR_LLC_QUEUE_MAX; n++)
			if (!take_msg(lgr))
				break;
	} while (take_pending(lgr) || take_timer(lgr, &next) ||
		 n == SMCR_LLC_QUEUE_MAX);

	if (smcr_llc_send_late(lgr))
		next = min(next, SMCR_LLC_RETRY);
	/* if an event was posted during this run, the work is queued already, without delay */
	if (next == MAX_JIFFY_OFFSET ||
	    !queue_delayed_work(smcr_wq, &lgr->llc.work, next))
		smcr_lgr_put(lgr);
}
