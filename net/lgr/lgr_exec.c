// SPDX-License-Identifier: GPL-2.0-only
/*
 * Actions of a group's state machine, and the facts about a message that it cannot
 * know. Context of all functions: the group's work.
 */
#include "core/clc.h"
#include "core/lgr_plan.h"
#include "base/netns.h"
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_run_impl.h"
#include "lgr/llc_test.h"
#include "lgr/rtoken.h"

/* Facts about a message that arrived */

/* Does CONFIRM LINK name the peer's end that CLC or ADD LINK announced? (LLC-21, LLC-22) */
static bool llc_link_data_ok(const struct smcr_link *link,
			     const struct smcr_llc_confirm_link *cl)
{
	const struct smcr_end named = { cl->mac, cl->gid, cl->qpn };
	struct smcr_end end;

	if (!link)
		return false;
	end = (struct smcr_end) {
		link->peer_mac, link->peer_gid, link->peer_qpn
	};
	return link->lgr->dialect->same_end(&end, &named);
}

/* Error mask for the reply to DELETE RKEY: RKeys that are unknown, or are in use */
static u8 llc_rkey_mask(struct smcr_lgr *lgr, u8 slot,
			const struct smcr_llc_delete_rkey *dk)
{
	u8 mask = 0;
	int i;

	for (i = 0; i < dk->count; i++) {
		if (smcr_lgr_rtoken_known(lgr, slot, dk->rkey[i], true))
			continue;
		mask |= 0x80 >> i;
		net_info_ratelimited("link group %u, peer %*phN withdraws RKey 0x%x that is unknown or in use\n",
				     lgr->id, (int)sizeof(lgr->peer.id),
				     lgr->peer.id, dk->rkey[i]);
		smcr_report_reason(lgr->sn, SMCR_R_LLC_RKEY, lgr->id, 0);
	}
	return mask;
}

/* Does a reply to CONFIRM RKEY echo the RKey of the own request? */
static bool llc_echo_ok(struct smcr_lgr *lgr, u8 slot,
			const struct smcr_llc *msg)
{
	bool ok = true;

	spin_lock_bh(&lgr->llc.lock);
	if (msg->type == SMCR_LLC_CONFIRM_RKEY)
		ok = msg->confirm_rkey.rkey == lgr->llc.rkey.on[slot].rkey;
	spin_unlock_bh(&lgr->llc.lock);
	return ok;
}

/* Set @ev->facts: results of checks of @ev->msg that the state machine cannot make */
void smcr_lgr_read_facts(struct smcr_lgr *lgr, struct smcr_lgr_ev *ev)
{
	const struct smcr_link *link = smcr_slot_link(&lgr->slot[ev->slot]);
	const struct smcr_llc *msg = &ev->msg;
	struct smcr_lgr_facts *facts = &ev->facts;

	switch (msg->type) {
	case SMCR_LLC_CONFIRM_LINK:
		facts->link_data = !llc_link_data_ok(link, &msg->confirm_link);
		break;
	case SMCR_LLC_ADD_LINK:
		/*
		 * smcr_lgr_peer_nic() assigns a number to the MAC. ADD LINK with R=0 to a
		 * server is only a notice. A notice may have any MAC, so its MAC gets no
		 * number.
		 */
		if (msg->reply || !lgr->server)
			facts->nic = smcr_lgr_peer_nic(lgr, msg->add_link.mac);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		if (msg->reply)
			facts->echo = !llc_echo_ok(lgr, ev->slot, msg);
		else
			facts->full =
				!smcr_lgr_rtoken_fits(lgr, ev->slot,
						      msg->confirm_rkey.rkey,
						      msg->confirm_rkey.va);
		break;
	case SMCR_LLC_DELETE_RKEY:
		if (!msg->reply)
			facts->rkey_mask = llc_rkey_mask(lgr, ev->slot,
							 &msg->delete_rkey);
		else if (msg->delete_rkey.negative)
			net_info_ratelimited("link group %u, peer %*phN does not know RKey 0x%x\n",
					     lgr->id, (int)sizeof(lgr->peer.id),
					     lgr->peer.id,
					     msg->delete_rkey.rkey[0]);
		break;
	}
}

/* Own messages: members that the state machine does not know */

static void fill_confirm_link(struct smcr_lgr *lgr,
			      const struct smcr_link *link,
			      struct smcr_llc_confirm_link *cl)
{
	memcpy(cl->mac, link->pid.mac, sizeof(cl->mac));
	memcpy(cl->gid, link->pid.gid.raw, sizeof(cl->gid));
	cl->qpn = link->qpn;
	cl->user_id = link->user_id;
	cl->max_links = lgr->terms.max_links;
	cl->no_eye_catcher = !lgr->eye_wanted;
}

/* ADD LINK of the server, or the client's reply: fill in the own end of the new link */
static void fill_add_link(struct smcr_lgr *lgr, const struct smcr_lgr_link *slot,
			  struct smcr_llc_add_link *al)
{
	const struct smcr_link *link = smcr_slot_link(slot);

	if (link) {
		memcpy(al->mac, link->pid.mac, sizeof(al->mac));
		memcpy(al->gid, link->pid.gid.raw, sizeof(al->gid));
		al->qpn = link->qpn;
		al->mtu = link->pid.mtu;
		al->psn = link->psn;
		return;
	}
	if (!slot->probe)	/* the new link has left its slot by now */
		return;
	memcpy(al->mac, lgr->link->pid.mac, sizeof(al->mac));
	memcpy(al->gid, lgr->link->pid.gid.raw, sizeof(al->gid));
	al->qpn = slot->probe->qp_num;
	al->mtu = lgr->link->pid.mtu;
	al->psn = slot->probe_psn;
}

/*
 * ADD LINK of a client, which is its notice of another RNIC: fill in an RNIC that no link
 * is on (LLC-35). False: there is no such RNIC, so no notice is sent.
 */
static bool fill_notice(struct smcr_lgr *lgr, struct smcr_llc_add_link *al)
{
	struct smcr_port_id pid = { };

	if (lgr->single || !smcr_lgr_new_nic(lgr, &pid))
		return false;
	memcpy(al->mac, pid.mac, sizeof(al->mac));
	memcpy(al->gid, pid.gid.raw, sizeof(al->gid));
	al->mtu = pid.mtu;
	smcr_dev_put(pid.dev);
	return true;
}

/* ADD LINK CONTINUATION: fill in the next two of the RTokens that are to be announced */
static void fill_add_link_cont(const struct smcr_lgr_link *slot,
			       struct smcr_llc_add_link_cont *ac)
{
	u8 left = min_t(u8, ac->n_rtokens, slot->n_tok);
	u8 i;

	for (i = 0; i < min_t(u8, left, ARRAY_SIZE(ac->pair)); i++)
		ac->pair[i] = slot->tok[slot->n_tok - left + i];
}

/* Fill in entries of the own CONFIRM RKEY, beginning with the one for rkey_slots[@from] */
static void fill_rkey_others(struct smcr_lgr *lgr, u8 from,
			     struct smcr_llc_rkey_entry *e, u8 n)
{
	struct smcr_llc_run *run = &lgr->llc;
	u8 i, slot;

	for (i = 0; i < n && from + i < run->n_rkey_slots; i++) {
		slot = run->rkey_slots[from + i];
		e[i].link_num = run->fsm.slot[slot].num;
		e[i].rkey = run->rkey.on[slot].rkey;
		e[i].va = run->rkey.on[slot].va;
	}
}

/* Set rkey_slots to the links that the own CONFIRM RKEY names: all active ones but @carrier */
static void list_rkey_slots(struct smcr_lgr *lgr, u8 carrier)
{
	struct smcr_llc_run *run = &lgr->llc;
	u8 i;

	run->n_rkey_slots = 0;
	for (i = 0; i < SMCR_SLOTS; i++)
		if (i != carrier && run->fsm.slot[i].st == SMCR_SLOT_ACTIVE)
			run->rkey_slots[run->n_rkey_slots++] = i;
}

static void fill_rkey(struct smcr_lgr *lgr, u8 slot, struct smcr_llc *msg)
{
	struct smcr_llc_confirm_rkey_cont *cc = &msg->confirm_rkey_cont;
	struct smcr_llc_confirm_rkey *ck = &msg->confirm_rkey;

	spin_lock_bh(&lgr->llc.lock);
	switch (msg->type) {
	case SMCR_LLC_CONFIRM_RKEY:
		list_rkey_slots(lgr, slot);
		ck->rkey = lgr->llc.rkey.on[slot].rkey;
		ck->va = lgr->llc.rkey.on[slot].va;
		fill_rkey_others(lgr, 0, ck->other, ARRAY_SIZE(ck->other));
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		fill_rkey_others(lgr, lgr->llc.n_rkey_slots - cc->n_left,
				 cc->other, ARRAY_SIZE(cc->other));
		break;
	default:
		msg->delete_rkey.count = 1;
		msg->delete_rkey.rkey[0] = lgr->llc.rkey.on[slot].rkey;
	}
	spin_unlock_bh(&lgr->llc.lock);
}

static void do_send(struct smcr_lgr *lgr, const struct smcr_lgr_act *a,
		    struct smcr_llc *msg)
{
	const struct smcr_link *link = smcr_slot_link(&lgr->slot[a->slot]);

	switch (msg->type) {
	case SMCR_LLC_CONFIRM_LINK:
		if (link)
			fill_confirm_link(lgr, link, &msg->confirm_link);
		break;
	case SMCR_LLC_ADD_LINK:
		if (!lgr->server && !msg->reply &&
		    !fill_notice(lgr, &msg->add_link))
			return;
		if (lgr->server == !msg->reply && !msg->add_link.rejected)
			fill_add_link(lgr, &lgr->slot[a->about], &msg->add_link);
		break;
	case SMCR_LLC_ADD_LINK_CONT:
		if (lgr->slot[a->about].tok)
			fill_add_link_cont(&lgr->slot[a->about],
					   &msg->add_link_cont);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		if (!msg->reply)
			fill_rkey(lgr, a->slot, msg);
		else if (msg->confirm_rkey.negative && !msg->confirm_rkey.retry)
			net_info_ratelimited("link group %u, peer %*phN: RKey 0x%x refused\n",
					     lgr->id, (int)sizeof(lgr->peer.id),
					     lgr->peer.id,
					     msg->confirm_rkey.rkey);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
	case SMCR_LLC_DELETE_RKEY:
		if (!msg->reply)
			fill_rkey(lgr, a->slot, msg);
		break;
	}
	smcr_llc_send(lgr, a->slot, msg, a->report, a->about);
}

/* Timers */

static unsigned long span_jiffies(const struct smcr_lgr *lgr,
				  const struct smcr_lgr_act *a)
{
	const struct smcr_knobs *knobs = &lgr->sn->knobs;
	unsigned int ms;

	switch (a->span) {
	case SMCR_SPAN_FIRST:
		ms = READ_ONCE(knobs->t_llc_first);
		break;
	case SMCR_SPAN_FIRST_SEND:
		ms = READ_ONCE(knobs->t_llc_first) / 2;
		break;
	case SMCR_SPAN_NOTICE:
		ms = 2 * READ_ONCE(knobs->t_llc);
		break;
	case SMCR_SPAN_RETRY:
		return smcr_knob_jiffies(lgr->sn, t_link_retry) << a->n;
	case SMCR_SPAN_PAUSE:
		return HZ;
	default:
		ms = READ_ONCE(knobs->t_llc);
	}
	return msecs_to_jiffies(ms);
}

static void do_arm(struct smcr_lgr *lgr, const struct smcr_lgr_act *a)
{
	lgr->llc.due[a->timer] = jiffies + span_jiffies(lgr, a);
	lgr->llc.armed |= BIT(a->timer);
}

/* RTokens of the peer */

/* Record entries of the peer's CONFIRM RKEY, each for the link that it names */
static void learn_others(struct smcr_lgr *lgr,
			 const struct smcr_llc_rkey_entry *e, u8 n)
{
	u8 i, slot;

	for (i = 0; i < n; i++) {
		slot = smcr_lgr_slot_of(&lgr->llc.fsm, e[i].link_num);
		if (slot != SMCR_NO_SLOT && lgr->llc.learning >= 0)
			smcr_lgr_record_rtoken(lgr, lgr->llc.learning, slot,
					       e[i].rkey, e[i].va);
	}
}

/* End the peer's CONFIRM RKEY, if one has begun. @ok: all its messages have come (LLC-13) */
static void learn_end(struct smcr_lgr *lgr, bool ok)
{
	if (lgr->llc.learning >= 0)
		smcr_lgr_end_rtoken(lgr, lgr->llc.learning, ok);
	lgr->llc.learning = -1;
}

static void do_learn_rmb(struct smcr_lgr *lgr, const struct smcr_lgr_act *a,
			 const struct smcr_llc *msg)
{
	const struct smcr_llc_confirm_rkey_cont *cc = &msg->confirm_rkey_cont;
	const struct smcr_llc_confirm_rkey *ck = &msg->confirm_rkey;

	if (msg->type == SMCR_LLC_CONFIRM_RKEY) {
		learn_end(lgr, false);
		lgr->llc.learning = smcr_lgr_begin_rtoken(lgr, a->slot,
							  ck->rkey, ck->va);
		learn_others(lgr, ck->other,
			     min_t(u8, ck->n_other, ARRAY_SIZE(ck->other)));
	} else {
		learn_others(lgr, cc->other,
			     min_t(u8, cc->n_left, ARRAY_SIZE(cc->other)));
	}
	if (a->last)
		learn_end(lgr, true);
}

/*
 * ADD LINK CONTINUATION: record the RTokens of the peer's RMBs on the new link. A peer
 * with net/smc, the SMC-R of the mainline kernel, announces all its RMBs that are in use.
 * Among them may be RMBs that it has not announced before, or has withdrawn. No connection
 * of this host writes to such an unknown RMB, so its RToken is not recorded (LLC-41).
 */
static void do_learn(struct smcr_lgr *lgr, const struct smcr_lgr_act *a,
		     const struct smcr_llc *msg)
{
	const struct smcr_llc_add_link_cont *ac = &msg->add_link_cont;
	u8 i, n = min_t(u8, ac->n_rtokens, ARRAY_SIZE(ac->pair));
	int rt;

	for (i = 0; i < n; i++) {
		rt = smcr_lgr_find_rtoken(lgr, a->about, ac->pair[i].ref_rkey);
		if (rt < 0) {
			smcr_report_reason(lgr->sn, SMCR_R_LLC_RKEY, lgr->id, 0);
			continue;
		}
		smcr_lgr_record_rtoken(lgr, rt, a->slot, ac->pair[i].new_rkey,
				       ac->pair[i].new_va);
	}
}

static void do_forget_rmb(struct smcr_lgr *lgr, u8 slot,
			  const struct smcr_llc *msg)
{
	int i;

	for (i = 0; i < msg->delete_rkey.count; i++)
		smcr_lgr_del_rtoken(lgr, slot, msg->delete_rkey.rkey[i]);
}

/* First contact */

/*
 * The CONFIRM LINK messages of both sides are known: set the peer's user ID and, in first
 * contact, the number of links (LG-10), eye catchers and the form of ADD LINK.
 */
static void do_agreed(struct smcr_lgr *lgr, struct smcr_link *link,
		      const struct smcr_llc *msg)
{
	const struct smcr_llc_confirm_link *peer = &msg->confirm_link;
	const struct smcr_dialect *d = lgr->dialect;
	struct smcr_link *other;
	u8 form;
	int i;

	if (!link)
		return;
	WRITE_ONCE(link->peer_user_id, peer->user_id);
	/* only the first link settles the terms; slot 0 may have another link later */
	if (link->slot || smcr_lgr_state(lgr) != SMCR_LGR_ST_FORMING) {
		WRITE_ONCE(link->llc_form, d->llc_form(lgr->terms.base));
		return;
	}
	WRITE_ONCE(lgr->terms.max_links, lgr->server ?
		   smcr_max_links(lgr->terms.max_links, peer->max_links) :
		   smcr_max_links(peer->max_links ?: SMCR_LINKS_MIN,
				  lgr->terms.max_links));
	lgr->llc.fsm.max_links = lgr->terms.max_links;
	WRITE_ONCE(lgr->terms.base,
		   smcr_dialect_base(d, lgr->eye_wanted,
				     !peer->no_eye_catcher));
	form = d->llc_form(lgr->terms.base);
	/* a server has made its second link already: that needs the form, too (3.5.1.5) */
	for (i = 0; i < SMCR_SLOTS; i++) {
		other = smcr_slot_link(&lgr->slot[i]);
		if (other)
			WRITE_ONCE(other->llc_form, form);
	}
	smcr_lgr_owner_ops->agreed(lgr);
}

/* First contact has succeeded: the group can be used (LG-52) */
static void llc_activate(struct smcr_lgr *lgr)
{
	if (!smcr_lgr_set_state(lgr, SMCR_LGR_ST_ACTIVE, SMCR_R_NONE))
		return;
	smcr_llc_start(lgr);
}

static void do_settled(struct smcr_lgr *lgr, const struct smcr_lgr_act *a)
{
	if (a->res == SMCR_FIRST_OK)
		/*
		 * before the next message is sent: a peer that has received it may reuse
		 * the group
		 */
		llc_activate(lgr);
	else if (a->why == SMCR_R_LLC_TIMEOUT)
		smcr_count(lgr->sn, SMCR_CNT_T_LLC_FIRST);
}

static void do_fail(struct smcr_lgr *lgr, const struct smcr_lgr_act *a)
{
	if (a->why == SMCR_R_LLC_TIMEOUT)
		smcr_count(lgr->sn, SMCR_CNT_T_LLC);
	smcr_llc_fail(lgr, a->slot, a->why);
}

/* @msg: ADD LINK of the server; used at a client only */
static void do_make(struct smcr_lgr *lgr, struct smcr_lgr_link *slot,
		    const struct smcr_lgr_act *a, const struct smcr_llc *msg)
{
	struct smcr_lgr_fsm *fsm = &lgr->llc.fsm;

	smcr_lgr_pairs(fsm, &slot->pairs, NULL);
	if (!slot->pairs.n) {	/* first contact: the first link is not active yet */
		slot->pairs.n = 1;
		slot->pairs.pair[0].own = fsm->slot[0].own;
		slot->pairs.pair[0].peer = fsm->slot[0].peer;
	}
	slot->carrier = fsm->carrier;
	slot->try = a->n;
	slot->again = a->again;
	if (!lgr->server) {
		slot->peer = msg->add_link;
		slot->peer_nic = smcr_lgr_peer_nic(lgr, msg->add_link.mac);
	}
	smcr_lgr_link_queue(lgr, slot - lgr->slot, SMCR_LGR_DO_MAKE);
}

/*
 * Report an event of a link to netlink, but none if the slot has only a queue pair of
 * slot_make_probe().
 */
static void link_event(struct smcr_lgr *lgr, u8 slot, enum smcr_lgr_change what)
{
	struct smcr_link *link = smcr_slot_link(&lgr->slot[slot]);

	/* no event if the link has just failed: it is neither active nor leaving */
	if (link && READ_ONCE(link->st) != SMCR_LINK_ST_ERR)
		smcr_lgr_owner_ops->event(lgr, link, what, SMCR_R_NONE);
}

/* Have the connections of a link move to other links */
static void do_move(struct smcr_lgr *lgr, const struct smcr_lgr_act *a)
{
	struct smcr_lgr_link *slot = &lgr->slot[a->slot];
	const struct smcr_link *link = smcr_slot_link(slot);
	/*
	 * A peer with net/smc (see do_learn()) sets "orderly" even if its end of the link
	 * has failed. In that case the reason of the deletion is "lost path".
	 */
	bool works = lgr->llc.fsm.slot[a->slot].del_reason != SMCR_DEL_LOST_PATH;

	/*
	 * If a->answers is set, the reply to DELETE LINK goes over this link after MOVED,
	 * so the link is drained, not stopped. WRITE_ONCE(), because the work of the link
	 * may be carrying out an earlier MOVE.
	 */
	WRITE_ONCE(slot->drains, works && (a->orderly || a->answers));
	slot->moving = true;
	WRITE_ONCE(slot->move_no, slot->move_no + 1);
	spin_lock_bh(&lgr->lock);
	if (works && a->orderly && link && !slot->down)
		set_bit(a->slot, &lgr->spare);
	clear_bit(a->slot, &lgr->live);
	spin_unlock_bh(&lgr->lock);
	link_event(lgr, a->slot, SMCR_CHANGE_LINK_LEAVING);
	clear_bit(SMCR_LGR_DO_STAY, &slot->actions);
	smcr_lgr_link_queue(lgr, a->slot, SMCR_LGR_DO_MOVE);
}

/* Let connections use a link again. If the link has just failed, slot_stay() reports that */
static void do_stay(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_link *link = smcr_slot_link(&lgr->slot[slot]);

	spin_lock_bh(&lgr->lock);
	if (link && !lgr->slot[slot].down)
		set_bit(slot, &lgr->live);
	clear_bit(slot, &lgr->spare);
	spin_unlock_bh(&lgr->lock);
	link_event(lgr, slot, SMCR_CHANGE_LINK_ACTIVE);
	smcr_lgr_link_queue(lgr, slot, SMCR_LGR_DO_STAY);
}

/* Make a link live. If no other link was live, connections of lost links wait for a link */
static void do_live(struct smcr_lgr *lgr, u8 slot)
{
	struct smcr_link *link = smcr_slot_link(&lgr->slot[slot]);
	bool alone = !READ_ONCE(lgr->live) &&
		     smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE;

	set_bit(slot, &lgr->live);
	if (link && alone)
		smcr_lgr_owner_ops->link_stays(link);
	link_event(lgr, slot, SMCR_CHANGE_LINK_ACTIVE);
}

static void do_one(struct smcr_lgr *lgr, const struct smcr_lgr_act *a,
		   struct smcr_llc *msg)
{
	switch (a->type) {
	case SMCR_LGR_DO_SEND:
		do_send(lgr, a, msg);
		break;
	case SMCR_LGR_DO_MAKE:
		do_make(lgr, &lgr->slot[a->slot], a, msg);
		break;
	case SMCR_LGR_DO_CONNECT:
		lgr->slot[a->slot].peer = msg->add_link;
		break;
	case SMCR_LGR_DO_LEARN:
		do_learn(lgr, a, msg);
		break;
	case SMCR_LGR_DO_UP:
		smcr_lgr_link_queue(lgr, a->slot, SMCR_LGR_DO_UP);
		break;
	case SMCR_LGR_DO_LIVE:
		do_live(lgr, a->slot);
		if (READ_ONCE(lgr->sn->knobs.balance))
			smcr_lgr_link_queue(lgr, a->slot, SMCR_LGR_DO_LIVE);
		break;
	case SMCR_LGR_DO_MOVE:
		do_move(lgr, a);
		break;
	case SMCR_LGR_DO_STAY:
		do_stay(lgr, a->slot);
		break;
	case SMCR_LGR_DO_FAIL:
		do_fail(lgr, a);
		break;
	case SMCR_LGR_DO_STOP:
		spin_lock_bh(&lgr->lock);
		clear_bit(a->slot, &lgr->live);
		clear_bit(a->slot, &lgr->spare);
		spin_unlock_bh(&lgr->lock);
		smcr_lgr_link_queue(lgr, a->slot, SMCR_LGR_DO_STOP);
		break;
	case SMCR_LGR_DO_ARM:
		do_arm(lgr, a);
		break;
	case SMCR_LGR_DO_DISARM:
		lgr->llc.armed &= ~BIT(a->timer);
		break;
	case SMCR_LGR_DO_PREPARE:
		smcr_lgr_rkey_prepare(lgr);
		break;
	case SMCR_LGR_DO_RKEY_DONE:
		smcr_lgr_rkey_done(lgr, a->res);
		break;
	case SMCR_LGR_DO_LEARN_RMB:
		do_learn_rmb(lgr, a, msg);
		break;
	case SMCR_LGR_DO_FORGET_RMB:
		do_forget_rmb(lgr, a->slot, msg);
		break;
	case SMCR_LGR_DO_AGREED:
		do_agreed(lgr, smcr_slot_link(&lgr->slot[a->slot]), msg);
		break;
	case SMCR_LGR_DO_NO_RETURN:
		smcr_lgr_announce_end(lgr);
		break;
	case SMCR_LGR_DO_SETTLED:
		do_settled(lgr, a);
		break;
	case SMCR_LGR_DO_DEAD:
		smcr_lgr_kill(lgr, a->why, 0);
		break;
	case SMCR_LGR_DO_LOSE:
		smcr_lgr_owner_ops->lose_conns(lgr);
		break;
	case SMCR_LGR_DO_RELEASE:
		lgr->llc.armed = 0;
		smcr_lgr_release_now(lgr);
		break;
	}
}

/* Copy link numbers from the state machine to the links, for readers in other contexts */
static void llc_number_links(struct smcr_lgr *lgr)
{
	struct smcr_link *link;
	u8 num;
	int i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		link = smcr_slot_link(&lgr->slot[i]);
		num = lgr->llc.fsm.slot[i].num;
		if (!link || !num || link->num == num)
			continue;
		WRITE_ONCE(link->num, num);
		link_event(lgr, i, SMCR_CHANGE_LINK_ADDING);
	}
}

/*
 * A FAILED link is stopped when the peer has agreed to its deletion. A client's GONE link,
 * which the server has deleted, is stopped when the client's reply is delivered. The
 * removal of a device waits for neither event: a link on the device leaves its slot here.
 */
static void llc_leave_devices(struct smcr_lgr *lgr)
{
	const struct smcr_link *link;
	int i;

	/* first contact, and the end of a group, put their links themselves */
	if (lgr->llc.fsm.first || lgr->llc.fsm.ending)
		return;
	for (i = 0; i < SMCR_SLOTS; i++) {
		link = smcr_slot_link(&lgr->slot[i]);
		if (link && !lgr->slot[i].moving &&
		    (lgr->llc.fsm.slot[i].st == SMCR_SLOT_FAILED ||
		     lgr->llc.fsm.slot[i].st == SMCR_SLOT_GONE) &&
		    READ_ONCE(link->pid.dev->removed)) {
			smcr_slot_off(lgr, i);
			/* a reply that goes over this link is not delivered any more */
			if (lgr->llc.fsm.slot[i].st == SMCR_SLOT_GONE)
				smcr_lgr_post(lgr, SMCR_LGR_EV_LINK_DOWN, i);
		}
	}
}

/* Carry out the actions of the last event, in their order */
void smcr_lgr_exec(struct smcr_lgr *lgr)
{
	struct smcr_lgr_out *out = &lgr->llc.out;
	const struct smcr_lgr_act *settled = NULL;
	int i;

	llc_number_links(lgr);
	for (i = 0; i < out->n; i++) {
		do_one(lgr, &out->act[i], &out->msg[out->act[i].msg]);
		if (out->act[i].type == SMCR_LGR_DO_SETTLED)
			settled = &out->act[i];
	}
	llc_leave_devices(lgr);
	smcr_lgr_view_update(lgr);
	if (settled)
		smcr_lgr_publish_settled(lgr, settled->res, settled->why);
}
