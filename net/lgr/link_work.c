// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work of each link of a group: it carries out actions that sleep, MAKE, UP, MOVE,
 * STAY and STOP, and posts their outcome. The number of links that are made at the same
 * time is limited. The actions are SMCR_LGR_DO_* of the group's state machine
 * (core/lgr_fsm.h).
 */
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/clc.h"
#include "core/lgr_plan.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/lgr.h"
#include "lgr/lgr_balance.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_run_impl.h"
#include "lgr/llc_test.h"
#include "lgr/rmb.h"
#include "lgr/rtoken.h"

/*
 * Maximum number of links that are made at the same time, in all groups. It is small, as
 * peers may cause hundreds of links to be made. The works that make links share the
 * processors with handshakes, which run on workqueues of their own.
 */
static unsigned int smcr_making_max = 16;
static DEFINE_SPINLOCK(making_lock);
static unsigned int making_n;		/* making_lock */
static LIST_HEAD(making_line);		/* smcr_lgr_link.in_line; making_lock */

#ifdef SMCR_RACE
module_param_named(making, smcr_making_max, uint, 0600);
MODULE_PARM_DESC(making, "for tests: links that are made at the same time");
#endif

/* RNICs */

/*
 * Is a link of the group on the RNIC with this MAC? @own: an RNIC of this host, else of
 * the peer. lgr->lock held
 */
static bool nic_in_use(const struct smcr_lgr *lgr, bool own,
		       const u8 mac[ETH_ALEN])
{
	const struct smcr_link *link;
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		link = lgr->slot[i].link;
		if (link && (own || smcr_link_met(link)) &&
		    lgr->dialect->same_rnic(own ? link->pid.mac :
						  link->peer_mac, mac))
			return true;
	}
	return false;
}

/*
 * Number of the RNIC that has a MAC; an RNIC without a number gets one. There are more
 * numbers than links. So when all are assigned, some belong to RNICs that no link is on.
 * Of these RNICs, the one whose number was last requested the longest time ago loses its
 * number.
 */
static u8 nic_number(struct smcr_lgr *lgr, bool own, const u8 mac[ETH_ALEN])
{
	struct smcr_nics *n = own ? &lgr->nics.own : &lgr->nics.peer;
	u8 i, at = SMCR_NO_NIC;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_NICS_MAX; i++)
		if (n->nic[i].used &&
		    lgr->dialect->same_rnic(n->nic[i].mac, mac))
			at = i;
	for (i = 0; i < SMCR_NICS_MAX && at == SMCR_NO_NIC; i++)
		if (!n->nic[i].used)
			at = i;
	if (at == SMCR_NO_NIC) {
		for (i = 0; i < SMCR_NICS_MAX; i++)
			if (!nic_in_use(lgr, own, n->nic[i].mac) &&
			    (at == SMCR_NO_NIC ||
			     (s32)(n->nic[i].used - n->nic[at].used) < 0))
				at = i;
	}
	if (at != SMCR_NO_NIC) {
		memcpy(n->nic[at].mac, mac, ETH_ALEN);
		n->nic[at].used = ++n->clock ?: ++n->clock;
	}
	spin_unlock_bh(&lgr->lock);
	return at;
}

u8 smcr_lgr_own_nic(struct smcr_lgr *lgr, const u8 mac[ETH_ALEN])
{
	return nic_number(lgr, true, mac);
}

u8 smcr_lgr_peer_nic(struct smcr_lgr *lgr, const u8 mac[ETH_ALEN])
{
	return nic_number(lgr, false, mac);
}

/* Making a link */

/*
 * Choose the RNIC for @slot among those on the LAN of @at. True if there is one: it is in
 * *@pid, with a reference on its device.
 */
static bool slot_pick_nic(struct smcr_lgr *lgr, struct smcr_lgr_link *slot,
			  const struct smcr_port_id *at,
			  struct smcr_port_id *pid)
{
	struct smcr_port_id *lan;
	u8 nic[SMCR_NICS_MAX];
	int i, n;

	slot->nic = SMCR_NO_NIC;
	lan = kcalloc(SMCR_LAN_MAX, sizeof(*lan), GFP_KERNEL);
	if (!lan)
		return false;
	n = smcr_dev_lan(lgr->sn->net, at, lan, SMCR_LAN_MAX);
	for (i = 0; i < n; i++)
		nic[i] = smcr_lgr_own_nic(lgr, lan[i].mac);
	if (lgr->server)
		slot->nic = smcr_roles_offer(&slot->pairs,
					     lgr->terms.max_links, nic, n,
					     slot->try, slot->again);
	else
		slot->nic = smcr_roles_answer(&slot->pairs,
					      lgr->terms.max_links,
					      slot->peer_nic, nic, n);
	for (i = 0; i < n; i++) {
		if (slot->nic != SMCR_NO_NIC && nic[i] == slot->nic &&
		    !pid->dev)
			*pid = lan[i];
		else
			smcr_dev_put(lan[i].dev);
	}
	kfree(lan);
	return pid->dev;
}

static struct smcr_link *slot_new_link(struct smcr_lgr *lgr, u8 i,
				       const struct smcr_port_id *pid)
{
	struct smcr_link_params owner = {
		.lgr = lgr,
		.lgr_id = lgr->id,
		.slot = i,
		.peer_id = lgr->peer.id,
		.msg_len = lgr->dialect->msg_len,
		.mem = &lgr->mem,
	};
	struct smcr_link *link;
	int d;

	d = smcr_lgr_dev_get(lgr, pid->dev);
	if (d < 0)
		return ERR_PTR(d);
	owner.d = d;
	link = smcr_link_create(&owner, pid, lgr->rmbs.devs[d].pd);
	if (!IS_ERR(link))
		link->user_id = get_random_u32();
	return link;
}

/* The peer's end is known: take the link to RTR */
static int slot_connect(const struct smcr_lgr_link *slot, struct smcr_link *link)
{
	const struct smcr_llc_add_link *peer = &slot->peer;

	return smcr_link_to_rtr(link, peer->gid, peer->mac, peer->qpn,
				peer->psn, smcr_min_mtu(peer->mtu,
							link->pid.mtu));
}

/*
 * Make another link and place it in its slot; at the client the link is already in RTR
 * (LG-22)
 */
static bool slot_make_link(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *carrier = smcr_lgr_link_get(lgr, slot->carrier);
	struct smcr_port_id pid = { };
	struct smcr_link *link = NULL;
	int n = -ENOMEM;

	if (!carrier)
		return false;
	if (slot_pick_nic(lgr, slot, &carrier->pid, &pid))
		link = slot_new_link(lgr, slot - lgr->slot, &pid);
	if (pid.dev)
		smcr_dev_put(pid.dev);
	if (IS_ERR_OR_NULL(link))
		goto out;
	if (!lgr->server && slot_connect(slot, link))
		goto err;
	n = smcr_rmb_tokens(lgr, link, carrier->mem.d, &slot->tok);
	if (n < 0 || n > U8_MAX)
		goto err;
	slot->n_tok = n;
	smcr_race(lgr->sn->net, "link-place");
	smcr_lgr_place_link(link);
	smcr_link_put(carrier);
	return true;

err:
	smcr_link_stop(link);
	smcr_link_put(link);
out:
	smcr_link_put(carrier);
	return false;
}

/*
 * net.smcr.max_links is 1: make a queue pair for the server's ADD LINK. The server has to
 * offer a second link all the same (LG-18), but gives the offer up when the client has
 * answered. So it makes no link.
 */
static bool slot_make_probe(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct ib_qp *qp = smcr_link_probe_qp(lgr->link);

	if (IS_ERR(qp))
		return false;
	slot->probe = qp;
	slot->probe_psn = get_random_u32() & 0xffffff;
	return true;
}

static void slot_make(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	smcr_race(lgr->sn->net, "slot-make");
	slot->why = SMCR_R_QP_FAIL;
	if (!lgr->single)
		slot->ok = slot_make_link(lgr, slot);
	else
		slot->ok = lgr->server && slot_make_probe(lgr, slot);
}

/* Take the link to RTS, and register RMBs on it (LLC-20) */
static bool slot_bring_up(struct smcr_lgr *lgr, struct smcr_lgr_link *slot,
			  struct smcr_link *link)
{
	slot->why = SMCR_R_QP_FAIL;
	if (READ_ONCE(link->st) == SMCR_LINK_ST_INIT &&
	    slot_connect(slot, link))
		return false;
	if (smcr_link_to_rts(link))
		return false;
	smcr_race(lgr->sn->net, "slot-up");
	slot->why = SMCR_R_MR_FAIL;
	return !smcr_rmb_register_all(lgr, link);
}

/*
 * UP. During this function the link may leave its slot, and the group may end. So a
 * reference on the link is taken.
 */
static void slot_up(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *link = smcr_lgr_link_get(lgr, slot - lgr->slot);

	slot->why = SMCR_R_QP_FAIL;
	slot->ok = link && slot_bring_up(lgr, slot, link);
	smcr_link_put(link);
}

/* Stop a link, and report its deletion, once. Process context, sleeps. */
void smcr_slot_link_stop(struct smcr_link *link)
{
	if (smcr_link_stop(link))
		smcr_lgr_owner_ops->event(link->lgr, link, SMCR_CHANGE_LINK_DELETED,
					  SMCR_R_NONE);
}

/* STOP: end the link, or the queue pair of slot_make_probe() */
static void slot_stop(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *link = smcr_lgr_link_get(lgr, slot - lgr->slot);

	smcr_link_probe_end(slot->probe);
	slot->probe = NULL;
	kvfree(slot->tok);
	slot->tok = NULL;
	if (!link)
		return;
	smcr_slot_link_stop(link);
	WRITE_ONCE(link->deleted, true);
	smcr_lgr_owner_ops->move_conns(link);
	smcr_lgr_owner_ops->link_gone(link);
	smcr_link_put(link);
	/* another link may be the next one that has to be tested */
	smcr_llc_test_update(lgr);
}

/*
 * Maximum time, in jiffies, to drain a link: what was sent over it should have arrived by
 * then
 */
static unsigned long slot_drain_time(const struct smcr_lgr *lgr)
{
	return smcr_knob_jiffies(lgr->sn, t_llc) / 8;
}

/*
 * MOVE: drain or stop a link, then have its connections move. After a drain, all has
 * arrived. After a stop all work requests have ended, so it is certain what has arrived
 * (FO-03, FO-16).
 */
static void slot_move(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *link = smcr_lgr_link_get(lgr, slot - lgr->slot);

	if (!link)
		return;
	if (!READ_ONCE(slot->drains) ||
	    (!smcr_link_drain(link, slot_drain_time(lgr)) &&
	     !test_bit(SMCR_LGR_DO_STAY, &slot->actions)))
		smcr_slot_link_stop(link);
	smcr_lgr_owner_ops->move_conns(link);
	smcr_lgr_owner_ops->link_gone(link);
	smcr_link_put(link);
}

/*
 * STAY: let connections use a link again that they have left or are about to leave: it is
 * the only one that works. If the link was stopped, because draining took too long, the
 * group ends.
 */
static void slot_stay(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *link = smcr_lgr_link_get(lgr, slot - lgr->slot);

	if (!link)
		return;
	if (smcr_link_stay(link))
		smcr_lgr_owner_ops->link_stays(link);
	else	/* a stopped link does not report its failure itself */
		smcr_lgr_link_down(link, SMCR_R_LINK_ERROR);
	smcr_link_put(link);
}

/*
 * Stop and put the link that was taken off the slot, if there is one. The link is in
 * slot->old until it is stopped, as its messages are passed up until then.
 */
static void slot_free(struct smcr_lgr *lgr, struct smcr_lgr_link *slot)
{
	struct smcr_link *old;
	bool mine;

	spin_lock_bh(&lgr->lock);
	old = slot->old;
	if (old)
		smcr_link_hold(old);
	spin_unlock_bh(&lgr->lock);
	if (!old)
		return;
	smcr_slot_link_stop(old);
	spin_lock_bh(&lgr->lock);
	mine = slot->old == old;
	if (mine)
		slot->old = NULL;
	spin_unlock_bh(&lgr->lock);
	if (mine)
		smcr_link_put(old);
	smcr_link_put(old);
}

/* Take a slot off making_line. True if it was there: the caller gets its reference */
static bool making_leave(struct smcr_lgr_link *slot)
{
	bool waits;

	lockdep_assert_held(&making_lock);
	waits = !list_empty(&slot->in_line);
	list_del_init(&slot->in_line);
	return waits;
}

/* Queue MAKE, which counts in making_n until making_next() */
static void making_queue(struct smcr_lgr_link *slot)
{
	/* pairs with slot_work(), as in smcr_lgr_link_queue() */
	smp_mb__before_atomic();
	set_bit(SMCR_LGR_DO_MAKE, &slot->actions);
	smcr_lgr_hold(slot->lgr);
	if (!queue_work(smcr_end_wq, &slot->work))
		smcr_lgr_put(slot->lgr);
}

/* Queue MAKE now, or put the slot into making_line until another MAKE is over */
static void making_want(struct smcr_lgr_link *slot)
{
	spin_lock(&making_lock);
	if (making_n < READ_ONCE(smcr_making_max)) {
		making_n++;
		making_queue(slot);
	} else {
		smcr_lgr_hold(slot->lgr);
		list_add_tail(&slot->in_line, &making_line);
	}
	spin_unlock(&making_lock);
}

/* A MAKE is over, or was dropped: queue the next one */
static void making_next(void)
{
	struct smcr_lgr_link *slot;

	spin_lock(&making_lock);
	slot = list_first_entry_or_null(&making_line, struct smcr_lgr_link,
					in_line);
	if (slot) {
		making_leave(slot);
		/*
		 * under making_lock, so that making_drop() finds the MAKE in making_line
		 * or queued
		 */
		making_queue(slot);
	} else {
		making_n--;
	}
	spin_unlock(&making_lock);
	if (slot)
		smcr_lgr_put(slot->lgr);
}

/* Drop a MAKE that has not begun */
static void making_drop(struct smcr_lgr_link *slot)
{
	bool waited;

	spin_lock(&making_lock);
	waited = making_leave(slot);
	spin_unlock(&making_lock);
	if (waited)
		smcr_lgr_put(slot->lgr);
	if (test_and_clear_bit(SMCR_LGR_DO_MAKE, &slot->actions))
		making_next();
}

static void slot_work(struct work_struct *work)
{
	struct smcr_lgr_link *slot = container_of(work, struct smcr_lgr_link, work);
	struct smcr_lgr *lgr = slot->lgr;
	unsigned int i = slot - lgr->slot;
	u32 no;

	smcr_race_begin(NR_SMCR_LGR_DO, &slot->actions);
	slot_free(lgr, slot);
	if (test_and_clear_bit(SMCR_LGR_DO_MAKE, &slot->actions)) {
		slot_make(lgr, slot);
		making_next();
		smcr_lgr_post(lgr, SMCR_LGR_EV_MADE, i);
	}
	if (test_and_clear_bit(SMCR_LGR_DO_UP, &slot->actions)) {
		slot_up(lgr, slot);
		smcr_lgr_post(lgr, SMCR_LGR_EV_UP, i);
	}
	if (test_and_clear_bit(SMCR_LGR_DO_LIVE, &slot->actions))
		smcr_lgr_balance(lgr);
	if (test_and_clear_bit(SMCR_LGR_DO_MOVE, &slot->actions)) {
		no = READ_ONCE(slot->move_no);
		slot_move(lgr, slot);
		WRITE_ONCE(slot->moved_no, no);
		smcr_lgr_post(lgr, SMCR_LGR_EV_MOVED, i);
	}
	if (test_and_clear_bit(SMCR_LGR_DO_STAY, &slot->actions))
		slot_stay(lgr, slot);
	if (test_and_clear_bit(SMCR_LGR_DO_STOP, &slot->actions)) {
		slot_stop(lgr, slot);
		smcr_lgr_post(lgr, SMCR_LGR_EV_STOPPED, i);
	}
	smcr_race_end(NR_SMCR_LGR_DO, &slot->actions);
	smcr_lgr_put(lgr);
}

void smcr_slot_init(struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		lgr->slot[i].lgr = lgr;
		INIT_WORK(&lgr->slot[i].work, slot_work);
		INIT_LIST_HEAD(&lgr->slot[i].in_line);
	}
	smcr_lgr_view_init(lgr);
}

static void slot_queue(struct smcr_lgr_link *slot)
{
	smcr_lgr_hold(slot->lgr);
	if (!queue_work(smcr_end_wq, &slot->work))
		smcr_lgr_put(slot->lgr);
}

/**
 * smcr_lgr_link_queue() - queue an action for the work of a link
 * @lgr: group
 * @slot: of the link
 * @action: MAKE, UP, MOVE or STOP, whose outcome is reported by an event of enum
 *	smcr_lgr_evt; or LIVE or STAY. If STOP is queued before a MAKE has begun, that MAKE
 *	is dropped and not reported
 *
 * Context: the group's work.
 */
void smcr_lgr_link_queue(struct smcr_lgr *lgr, u8 slot, enum smcr_lgr_do action)
{
	struct smcr_lgr_link *s = &lgr->slot[slot];

	if (action == SMCR_LGR_DO_MAKE) {
		making_want(s);
		return;
	}
	if (action == SMCR_LGR_DO_STOP)
		making_drop(s);
	/* pairs with slot_work(), which must not find the bit without the arguments */
	smp_mb__before_atomic();
	set_bit(action, &s->actions);
	slot_queue(s);
}

/**
 * smcr_slots_end() - end of the works of all links
 * @lgr: dead group; actions that have not begun are dropped
 *
 * Context: process, sleeps. Not called by the works of the links, for which it waits.
 */
void smcr_slots_end(struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		making_drop(&lgr->slot[i]);
		if (cancel_work_sync(&lgr->slot[i].work))
			smcr_lgr_put(lgr);
	}
}

/*
 * Take the link off @slot, and drop its pending LINK_DOWN and WANT_DEL, which would
 * otherwise be taken for those of the next link in the slot. The work of the link stops
 * and puts the link. Context: the group's work.
 */
void smcr_slot_off(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_link *link = smcr_slot_link(&lgr->slot[slot]);

	if (!link)
		return;
	spin_lock_bh(&lgr->lock);
	smcr_lgr_view_deleted(lgr, link);
	WRITE_ONCE(lgr->slot[slot].link, NULL);
	if (lgr->link == link)
		WRITE_ONCE(lgr->link, NULL);
	clear_bit(SMCR_PENDING(SMCR_LGR_EV_LINK_DOWN, slot), lgr->llc.pending);
	clear_bit(SMCR_PENDING(SMCR_LGR_EV_WANT_DEL, slot), lgr->llc.pending);
	lgr->slot[slot].old = link;
	spin_unlock_bh(&lgr->lock);
	slot_queue(&lgr->slot[slot]);
}

/* The link in @slot is stopped: take it off the slot, and reset the data of the link there */
void smcr_slot_stopped(struct smcr_lgr *lgr, u8 slot)
{
	smcr_slot_off(lgr, slot);
	/*
	 * no reply to TEST LINK comes over this link any more, or is due on the next one
	 */
	spin_lock_bh(&lgr->llc.lock);
	memset(&lgr->slot[slot].test, 0, sizeof(lgr->slot[slot].test));
	spin_unlock_bh(&lgr->llc.lock);
	smcr_lgr_forget_slot(lgr, slot);
	WRITE_ONCE(lgr->slot[slot].leave_at, 0);
}

/**
 * smcr_links_stop() - end of all traffic of a group
 * @lgr: dead group
 *
 * Context: process, sleeps.
 */
void smcr_links_stop(struct smcr_lgr *lgr)
{
	struct smcr_link *link;
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		slot_free(lgr, &lgr->slot[i]);
		link = smcr_lgr_link_get(lgr, i);
		if (!link)
			continue;
		smcr_slot_link_stop(link);
		smcr_lgr_owner_ops->link_gone(link);
		smcr_link_put(link);
	}
}

/**
 * smcr_links_off() - put the links of a group, and so their devices
 * @lgr: dead group whose works have ended; the last put stops a link that is not
 *	stopped yet
 *
 * A thread in a page fault may keep its reference on the group for ever. The removal of a
 * device must not wait for that thread, so the links are put before the group is freed.
 *
 * Context: process, sleeps.
 */
void smcr_links_off(struct smcr_lgr *lgr)
{
	struct smcr_link *link;
	int i;

	/* queue pairs of slot_make_probe() first: the last link below frees their PD */
	for (i = 0; i < SMCR_SLOTS; i++) {
		smcr_link_probe_end(lgr->slot[i].probe);
		lgr->slot[i].probe = NULL;
	}
	for (i = 0; i < SMCR_SLOTS; i++) {
		slot_free(lgr, &lgr->slot[i]);
		spin_lock_bh(&lgr->lock);
		link = lgr->slot[i].link;
		if (!i && link)
			lgr->end.met = smcr_link_met(link);
		WRITE_ONCE(lgr->slot[i].link, NULL);
		if (lgr->link == link)
			WRITE_ONCE(lgr->link, NULL);
		spin_unlock_bh(&lgr->lock);
		smcr_link_put(link);
	}
}

/**
 * smcr_links_free() - free the links of a group
 * @lgr: group without references
 *
 * Context: process, sleeps.
 */
void smcr_links_free(struct smcr_lgr *lgr)
{
	int i;

	smcr_links_off(lgr);
	for (i = 0; i < SMCR_SLOTS; i++)
		kvfree(lgr->slot[i].tok);
}
