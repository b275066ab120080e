// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link groups: state and references, end, failed links, choice of a link (RFC 7609
 * 2.2, 3.5.4).
 */
#include "core/lgr_plan.h"
#include "base/netns.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"

const struct smcr_lgr_ops *smcr_lgr_owner_ops __ro_after_init;

/* Maximum time, in jiffies, for which the end of a group waits for the peer */
static unsigned long lgr_end_time(const struct smcr_lgr *lgr)
{
	return msecs_to_jiffies(min(READ_ONCE(lgr->sn->knobs.t_llc),
				    SMCR_T_LLC_DEFAULT));
}

void smcr_lgr_hold(struct smcr_lgr *lgr)
{
	refcount_inc(&lgr->refs);
}

/*
 * Set lgr->st, whose first value is FORMING; nothing else writes it. Returns false if the
 * group was DEAD already. If true is returned, the caller drops the lock and wakes
 * lgr->wait. DEAD queues end.work, which releases the group when lgr_end_time() is over,
 * or earlier if the state machine has nothing left to announce to the peer.
 */
static bool lgr_set_state_locked(struct smcr_lgr *lgr, u8 st,
				 enum smcr_reason why)
{
	u8 old = lgr->st;

	lockdep_assert_held(&lgr->lock);
	if (old == SMCR_LGR_ST_DEAD)
		return false;
	if (st == SMCR_LGR_ST_DEAD) {
		lgr->end.links |= old == SMCR_LGR_ST_ACTIVE;
		lgr->end.due = jiffies + lgr_end_time(lgr);
		smcr_lgr_hold(lgr);	/* put by lgr_release() */
		queue_delayed_work(smcr_end_wq, &lgr->end.work,
				   lgr_end_time(lgr));
	} else {
		lgr->end.announce = true;
	}
	lgr->why = why;
	/* pairs with smcr_lgr_state(): a reader of DEAD must not read an old lgr->why */
	smp_store_release(&lgr->st, st);
	trace_smcr_lgr(lgr->id, lgr->server, old, st, why);
	smcr_lgr_owner_ops->event(lgr, NULL,
				  st == SMCR_LGR_ST_DEAD ? SMCR_CHANGE_GROUP_ENDED :
						       SMCR_CHANGE_GROUP_ACTIVE,
				  why);
	return true;
}

bool smcr_lgr_set_state(struct smcr_lgr *lgr, u8 st, enum smcr_reason why)
{
	bool ok;

	spin_lock_bh(&lgr->lock);
	ok = lgr_set_state_locked(lgr, st, why);
	spin_unlock_bh(&lgr->lock);
	if (ok)
		wake_up_all(&lgr->wait);
	return ok;
}

void smcr_lgr_put(struct smcr_lgr *lgr)
{
	if (refcount_dec_and_test(&lgr->refs))
		queue_work(smcr_end_wq, &lgr->end.free_work);
}

/*
 * On return @work is neither queued nor running, and its references on the group are put.
 * Process context, sleeps.
 */
void smcr_lgr_work_end(struct smcr_lgr *lgr, struct delayed_work *work)
{
	unsigned int n = smcr_work_end(work);

	while (n--)
		smcr_lgr_put(lgr);
}

/* Have the state machine end the group. Only the caller that has set DEAD calls this */
void smcr_lgr_post_end(struct smcr_lgr *lgr, enum smcr_reason why,
		       u32 del_reason)
{
	/*
	 * In first contact, before smcr_lgr_announce_end(), a Decline announces the end.
	 * No DELETE LINK is sent then (reason 0), as it must not arrive before the
	 * Decline.
	 */
	lgr->end.del.reason = lgr->end.announce ? del_reason : 0;
	/* a client's DELETE LINK must not have the reason "inactivity" (LG-38) */
	if (!lgr->server && lgr->end.del.reason == SMCR_DEL_INACTIVE)
		lgr->end.del.reason = SMCR_DEL_OPERATOR;
	lgr->end.del.all = true;
	lgr->end.del.orderly = del_reason == SMCR_DEL_OPERATOR ||
			       del_reason == SMCR_DEL_INACTIVE;
	smcr_report_reason(lgr->sn, why, lgr->id, 0);
	smcr_lgr_post(lgr, SMCR_LGR_EV_WANT_END, 0);
}

/* Set an ACTIVE group without connections to DEAD: smcr_lgr_add_conn() fails from then on */
bool smcr_lgr_end_idle(struct smcr_lgr *lgr, enum smcr_reason why)
{
	bool end;

	spin_lock_bh(&lgr->lock);
	end = lgr->st == SMCR_LGR_ST_ACTIVE && !lgr->conns.n &&
	      lgr_set_state_locked(lgr, SMCR_LGR_ST_DEAD, why);
	spin_unlock_bh(&lgr->lock);
	if (end)
		wake_up_all(&lgr->wait);
	return end;
}

/**
 * smcr_lgr_clear_suspect() - the peer's end of a link has answered TEST LINK
 * @lgr: group
 *
 * After a Decline "out of sync", smcr_lgr_suspect() may have stopped the reuse of the
 * group. As the peer has answered, that Decline was forged or wrong, and the group may be
 * reused again. So such a Decline keeps the connections of other addresses out of the
 * group for one round trip only.
 *
 * Context: any.
 */
void smcr_lgr_clear_suspect(struct smcr_lgr *lgr)
{
	if (READ_ONCE(lgr->test.no_reuse))
		WRITE_ONCE(lgr->test.no_reuse, false);
}

/**
 * smcr_lgr_kill() - end of a group
 * @lgr: group; the caller keeps its reference
 * @why: reason; not used if the group is DEAD already
 * @del_reason: reason code of DELETE LINK, enum smcr_del_link_reason; 0: no DELETE LINK is
 *	sent. In first contact, before smcr_lgr_announce_end(), none is sent either
 *
 * Context: any up to softirq.
 */
void smcr_lgr_kill(struct smcr_lgr *lgr, enum smcr_reason why, u32 del_reason)
{
	if (!smcr_lgr_set_state(lgr, SMCR_LGR_ST_DEAD, why))
		return;
	smcr_lgr_post_end(lgr, why, del_reason);
}

/**
 * smcr_lgr_kill_forming() - end of a group whose first contact is given up
 * @lgr: group; the caller keeps its reference
 * @why: reason
 * @del_reason: as for smcr_lgr_kill()
 *
 * An ACTIVE group does not end here: other connections may use it. If none does, the idle
 * time ends the group.
 *
 * Context: any up to softirq.
 */
void smcr_lgr_kill_forming(struct smcr_lgr *lgr, enum smcr_reason why,
			   u32 del_reason)
{
	bool end;

	spin_lock_bh(&lgr->lock);
	end = lgr->st == SMCR_LGR_ST_FORMING &&
	      lgr_set_state_locked(lgr, SMCR_LGR_ST_DEAD, why);
	spin_unlock_bh(&lgr->lock);
	if (!end)
		return;
	wake_up_all(&lgr->wait);
	smcr_lgr_post_end(lgr, why, del_reason);
}

/**
 * smcr_lgr_announce_end() - no Decline can end this first contact any more
 * @lgr: FORMING group that may be ACTIVE at the peer already
 *
 * From now on DELETE LINK announces the end of the group. Without DELETE LINK, the peer
 * would notice the end only when its queue pair has run out of retries.
 *
 * Context: any up to softirq.
 */
void smcr_lgr_announce_end(struct smcr_lgr *lgr)
{
	spin_lock_bh(&lgr->lock);
	if (lgr->st != SMCR_LGR_ST_DEAD)
		lgr->end.announce = true;
	spin_unlock_bh(&lgr->lock);
}

/* Returns @why, or KEEPALIVE instead if a TEST LINK for a keepalive was not answered (KA-04) */
static enum smcr_reason slot_why(const struct smcr_lgr_link *slot,
				 enum smcr_reason why)
{
	if (READ_ONCE(slot->test.keep) &&
	    (why == SMCR_R_LINK_ERROR || why == SMCR_R_LLC_TIMEOUT))
		return SMCR_R_KEEPALIVE;
	return why;
}

/*
 * Report the failure of a link, once, and only while the link is in its slot. The link is
 * in no slot before smcr_lgr_place_link() and after smcr_slot_off().
 *
 * LINK_DOWN is posted under lgr->lock. Under that lock smcr_slot_off() empties the slot,
 * and drops its pending events. So no LINK_DOWN of this link is left that would be taken
 * for one of the next link in the slot. The report to netlink is also made under the lock:
 * the end of the group may follow from the failure, and the report of that end has to come
 * later.
 */
static bool slot_fails(struct smcr_link *link, enum smcr_reason *why)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smcr_lgr_link *slot = &lgr->slot[link->slot];
	bool fails;

	spin_lock_bh(&lgr->lock);
	fails = slot->link == link && !slot->down;
	if (fails) {
		*why = slot_why(slot, *why);
		slot->down = true;
		slot->down_why = *why;
		clear_bit(link->slot, &lgr->live);
		clear_bit(link->slot, &lgr->spare);
		if (smcr_lgr_state(lgr) != SMCR_LGR_ST_DEAD) {
			smcr_count(lgr->sn, SMCR_CNT_LINK_DOWN);
			smcr_lgr_owner_ops->event(lgr, link,
						  SMCR_CHANGE_LINK_FAILED, *why);
		}
		smcr_lgr_post(lgr, SMCR_LGR_EV_LINK_DOWN, link->slot);
	}
	spin_unlock_bh(&lgr->lock);
	return fails;
}

/**
 * smcr_lgr_not_sent() - a message cannot be posted, as its link has failed or stopped
 * @lgr: group
 * @slot: of the link
 *
 * Posts LINK_DOWN. Until smcr_lgr_link_down() sets the reason of LINK_DOWN, the reason is
 * the one that a failed link has recorded.
 *
 * Context: the group's work.
 */
void smcr_lgr_not_sent(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_lgr_link *s = &lgr->slot[slot];

	spin_lock_bh(&lgr->lock);
	if (!s->down)
		s->down_why = s->link ? slot_why(s, READ_ONCE(s->link->why)) :
					SMCR_R_NONE;
	smcr_lgr_post(lgr, SMCR_LGR_EV_LINK_DOWN, slot);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_link_down() - a link has failed
 * @link: link; if it is the last one, the group ends (CONN-32)
 * @why: reason
 *
 * The call may come some time after the failure. If another link is in the slot by then,
 * the group is not changed.
 *
 * Context: any up to softirq.
 */
void smcr_lgr_link_down(struct smcr_link *link, enum smcr_reason why)
{
	struct smcr_lgr *lgr = link->lgr;

	trace_smcr_link(lgr->id, READ_ONCE(link->num), READ_ONCE(link->st),
			why);
	if (!slot_fails(link, &why))
		return;
	/*
	 * smcr_lgr_linked() returns links that drain, too, as the state machine may use
	 * them again. In first contact it returns no link until the first link is
	 * confirmed. So while the group is FORMING, only the loss of the first link, which
	 * is in slot 0, ends the group.
	 */
	if (!smcr_lgr_linked(lgr) &&
	    (!link->slot || smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING))
		smcr_lgr_kill(lgr, why, 0);
}

/**
 * smcr_lgr_place_link() - put a new link into its slot
 * @link: link of a group; its slot is free and gets the caller's reference
 *
 * If the link has failed before, when it was in no slot, the failure is reported now.
 *
 * Context: process.
 */
void smcr_lgr_place_link(struct smcr_link *link)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smcr_lgr_link *slot = &lgr->slot[link->slot];
	enum smcr_reason why;

	spin_lock_bh(&lgr->lock);
	slot->down = false;
	/* pairs with smcr_slot_link(), which must not find an incomplete link */
	smp_store_release(&slot->link, link);
	spin_unlock_bh(&lgr->lock);
	why = READ_ONCE(link->why);
	if (why != SMCR_R_NONE)
		smcr_lgr_link_down(link, why);
}

/* Release a dead group in @delay jiffies at the latest */
void smcr_lgr_release_in(struct smcr_lgr *lgr, unsigned long delay)
{
	spin_lock_bh(&lgr->lock);
	if (lgr->st == SMCR_LGR_ST_DEAD && !lgr->end.released &&
	    time_before(jiffies + delay, lgr->end.due)) {
		lgr->end.due = jiffies + delay;
		mod_delayed_work(smcr_end_wq, &lgr->end.work, delay);
	}
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_release_now() - release a group that has nothing left to announce
 * @lgr: dead group
 *
 * Context: any up to softirq.
 */
void smcr_lgr_release_now(struct smcr_lgr *lgr)
{
	smcr_lgr_release_in(lgr, 0);
}

/**
 * smcr_lgr_link_get() - a link of a group, with a reference
 * @lgr: group
 * @slot: slot of the link
 *
 * Context: any.
 * Return: link, to be put with smcr_link_put(); or NULL.
 */
struct smcr_link *smcr_lgr_link_get(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_link *link;

	spin_lock_bh(&lgr->lock);
	link = lgr->slot[slot].link;
	if (link)
		smcr_link_hold(link);
	spin_unlock_bh(&lgr->lock);
	return link;
}

static bool other_receives(const struct smcr_link *link, u8 num)
{
	return link && READ_ONCE(link->num) != num && !READ_ONCE(link->stopped);
}

/**
 * smcr_lgr_other_receives() - can any other link have messages that were not passed up?
 * @lgr: group
 * @num: number of the link that is left out
 *
 * Context: any up to softirq; the connection's lock may be held.
 * Return: false if all other links have stopped. Then every message that has arrived on
 * them was passed up before this call.
 */
bool smcr_lgr_other_receives(struct smcr_lgr *lgr, u8 num)
{
	bool found = false;
	int i;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS && !found; i++)
		found = other_receives(lgr->slot[i].link, num) ||
			other_receives(lgr->slot[i].old, num);
	spin_unlock_bh(&lgr->lock);
	return found;
}

/* Does an Accept or a Confirm name this link? */
static bool lgr_link_is(const struct smcr_link *link,
			const struct smcr_clc_accept *acc)
{
	const struct smcr_link_id id = {
		link->peer_id,
		{ link->peer_mac, link->peer_gid, link->peer_qpn }
	};

	return smcr_link_matches(link->lgr->dialect, &id, acc);
}

/* The link of a group that @acc names, or NULL; lgr->lock held */
struct smcr_link *smcr_lgr_link_of(const struct smcr_lgr *lgr,
				   const struct smcr_clc_accept *acc)
{
	struct smcr_link *link;
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		link = lgr->slot[i].link;
		if (link && lgr_link_is(link, acc))
			return link;
	}
	return NULL;
}

static struct smcr_link *lgr_best_link(struct smcr_lgr *lgr,
				       const struct smcr_clc_accept *on,
				       u16 not)
{
	struct smcr_link *link, *best = NULL;
	unsigned long live;
	unsigned int i;

	spin_lock_bh(&lgr->lock);
	live = lgr->st == SMCR_LGR_ST_FORMING ? BIT(0) : READ_ONCE(lgr->live);
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = lgr->slot[i].link;
		if (!link || not & BIT(i) ||
		    (on && !lgr_link_is(link, on)))
			continue;
		/*
		 * skip a live link that has just failed, or that drains until its STAY is
		 * carried out
		 */
		if (lgr->st != SMCR_LGR_ST_FORMING && !smcr_link_carries(link))
			continue;
		if (!best || atomic_read(&link->n_conns) <
			     atomic_read(&best->n_conns))
			best = link;
	}
	if (best)
		smcr_link_hold(best);
	spin_unlock_bh(&lgr->lock);
	return best;
}

/**
 * smcr_lgr_conn_link() - the link for a new connection (LG-46)
 * @lgr: group
 * @on: Accept or Confirm that names the link; NULL: choose the live link with the fewest
 *	connections, in first contact the first link
 *
 * Context: any.
 * Return: link with a reference. NULL: there is none.
 */
struct smcr_link *smcr_lgr_conn_link(struct smcr_lgr *lgr,
				     const struct smcr_clc_accept *on)
{
	return lgr_best_link(lgr, on, 0);
}

/**
 * smcr_lgr_another_link() - the link for a connection that moves
 * @lgr: group
 * @not: slots whose links are not to be used, bits
 *
 * Context: any.
 * Return: link with a reference. NULL: there is none.
 */
struct smcr_link *smcr_lgr_another_link(struct smcr_lgr *lgr, u16 not)
{
	return lgr_best_link(lgr, NULL, not);
}

/**
 * smcr_lgr_lighter_link() - a link that has clearly fewer connections than another one
 * @lgr: group
 * @from: link of the connection
 *
 * Context: process, may sleep in smcr_link_put().
 * Return: link with a reference, which has at least two connections fewer. NULL: there
 * is none.
 */
struct smcr_link *smcr_lgr_lighter_link(struct smcr_lgr *lgr,
					const struct smcr_link *from)
{
	struct smcr_link *to = lgr_best_link(lgr, NULL, BIT(from->slot));

	if (!to || atomic_read(&to->n_conns) + 1 < atomic_read(&from->n_conns))
		return to;
	smcr_link_put(to);
	return NULL;
}

/**
 * smcr_lgr_named_link() - the link that a client's Confirm names
 * @lgr: group
 * @conf: Confirm
 *
 * A link that is not live is found, too. The client's reply to CONFIRM LINK of that link
 * may not have come yet: the reply comes over the link, and the Confirm, which comes over
 * TCP, may be faster. Or the link may have failed after the client sent the Confirm.
 *
 * Context: any.
 * Return: link with a reference. NULL: there is none.
 */
struct smcr_link *smcr_lgr_named_link(struct smcr_lgr *lgr,
				      const struct smcr_clc_accept *conf)
{
	struct smcr_link *link;

	spin_lock_bh(&lgr->lock);
	link = smcr_lgr_link_of(lgr, conf);
	if (link)
		smcr_link_hold(link);
	spin_unlock_bh(&lgr->lock);
	return link;
}

/* The group of a namespace with the next ID after @after, with a reference, or NULL */
struct smcr_lgr *smcr_lgr_next(struct smcr_net *sn, u64 after)
{
	struct smcr_lgr *lgr = NULL;
	struct smcr_id *node;

	spin_lock_bh(&sn->lgr_lock);
	node = smcr_ids_after(&sn->lgrs, after);
	if (node) {
		lgr = container_of(node, struct smcr_lgr, net.id);
		smcr_lgr_hold(lgr);
	}
	spin_unlock_bh(&sn->lgr_lock);
	return lgr;
}
