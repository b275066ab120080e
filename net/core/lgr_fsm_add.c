// SPDX-License-Identifier: GPL-2.0-only
/*
 * ADD LINK .. CONFIRM LINK, in first contact and later: RFC 7609 3.5.1.6,
 * 3.5.5.1.1, 3.5.5.2.3, C.7.1, C.8. See lgr_fsm.h.
 *
 * The carrier is the link that carries the messages of the exchange. The
 * subject is the link that is added. A notice is a request of the client: ADD
 * LINK announces an RNIC, DELETE LINK asks the server to delete a link.
 */
#include "clc.h"
#include "env.h"
#include "lgr_fsm_int.h"

/* Server */

/*
 * ADD LINK of the client, its notice of another RNIC (LG-31), has come while a
 * link is being added. This attempt may have begun before the RNIC was added.
 * So f->cause is set for the next attempt, too: see lf_make(). If the offer of
 * this attempt is still to come, the client takes the offer for the answer to
 * its notice (LLC-74). If this attempt fails before the offer, f->asked_link
 * leads to another attempt, as a later notice would (LG-27).
 */
void lf_add_asked(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->single)
		return;
	f->cause = true;
	f->asked_link = !f->first && f->step == SMCR_LGR_S_ADD_MAKE;
}

void lf_srv_offer(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);

	f->asked_link = false;
	s->num = smcr_link_num_get(&f->nums);
	f->peer_tokens = (struct smcr_rtoken_count){ };
	lf_send(x, f->carrier, SMCR_LLC_ADD_LINK, false, lf_report(f),
		f->subject)->add_link.link_num = s->num;
	lf_step_sent(x, SMCR_LGR_S_ADD_REPLY);
}

/* Give up the link that is being added, without a message about it */
void lf_add_dropped(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->subject != SMCR_NO_SLOT &&
	    f->slot[f->subject].st != SMCR_SLOT_FREE)
		lf_stop(x, f->subject);
	f->subject = SMCR_NO_SLOT;
	lf_settled(x);
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/*
 * Have the caller make the queue pair. The caller selects the RNIC by ->n, the
 * number of failed attempts, so each attempt gets another RNIC.
 */
static void lf_make(struct lf *x, u8 slot)
{
	struct smcr_lgr_act *a = lf_act(x, SMCR_LGR_DO_MAKE, slot);

	a->n = x->f->tries;
	a->again = !x->f->cause;
	x->f->cause_tried = x->f->cause;
	x->f->cause = false;
}

void lf_add_begin(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 slot = lf_free_slot(f);

	f->want_link = false;
	f->carrier = smcr_lgr_send_slot(f);
	if (slot == SMCR_NO_SLOT || f->carrier == SMCR_NO_SLOT) {
		lf_retry(x);
		return;
	}
	f->subject = slot;
	f->slot[slot].st = SMCR_SLOT_MAKING;
	lf_make(x, slot);
	lf_step(x, SMCR_LGR_S_ADD_MAKE, LF_NO_TIMER);
}

static void srv_made(struct lf *x)
{
	x->f->tokens_left = x->ev->n;
	lf_srv_offer(x);
}

/*
 * The caller has found no RNIC, or could not make the queue pair. In first
 * contact the client waits for an offer (LLC-34), so first contact fails, by a
 * Decline.
 */
static void srv_not_made(struct lf *x)
{
	x->f->subject = SMCR_NO_SLOT;
	if (x->f->first) {
		lf_first_over(x, SMCR_FIRST_DECLINE, SMCR_R_ADD_LINK_FAIL);
		return;
	}
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	if (x->f->asked_link)
		lf_peer_has_nic(x);
	x->f->asked_link = false;
	lf_retry(x);
}

/* The client has rejected the offer (LG-23) */
static void srv_refused(struct lf *x)
{
	lf_add_dropped(x);
	lf_retry(x);
}

static void srv_tx_tokens(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_llc *m;

	m = lf_send(x, f->carrier, SMCR_LLC_ADD_LINK_CONT, false,
		    SMCR_LGR_NO_REPORT, f->subject);
	m->add_link_cont.link_num = lf_subject(x)->num;
	m->add_link_cont.n_rtokens = f->tokens_left;
	f->tokens_left = f->tokens_left > 2 ? f->tokens_left - 2 : 0;
	lf_step(x, SMCR_LGR_S_ADD_TOKENS, lf_span(f));
}

/*
 * The peer's message on the carrier does not fit the exchange, or no message
 * has come in time. During first contact, first contact fails; later, the
 * carrier fails.
 */
static void carrier_fails(struct lf *x, enum smcr_reason why)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->first)
		lf_first_over(x, SMCR_FIRST_RESET, why);
	else
		lf_fail(x, f->carrier, why);
}

static void srv_replied(struct lf *x)
{
	const struct smcr_llc_add_link *al = &x->ev->msg.add_link;
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	struct smcr_pairs links;

	if (x->ev->slot != f->carrier) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return;
	}
	if (f->sending)
		lf_first_sent(x);
	f->cause_tried = false;
	if (al->rejected) {	/* no other field matters (I-49) */
		srv_refused(x);
		return;
	}
	if (al->link_num != s->num || !smcr_mtu_ok(al->mtu)) {
		carrier_fails(x, SMCR_R_LLC_LINK_DATA);
		return;
	}
	s->peer = x->ev->facts.nic;
	smcr_lgr_pairs(f, &links, NULL);
	if (!smcr_role_allowed(&links, f->max_links,
			       (struct smcr_nic_pair){ s->own, s->peer })) {
		lf_add_undo(x, SMCR_DEL_PROTOCOL);	/* LLC-31, LG-12 */
		return;
	}
	/*
	 * This side wants one link only. In first contact it had to offer a
	 * second one all the same (LG-18). Now it deletes that link.
	 */
	if (f->single) {
		lf_add_undo(x, SMCR_DEL_LOST_PATH);
		return;
	}
	lf_pass_msg(x, SMCR_LGR_DO_CONNECT, f->subject);
	srv_tx_tokens(x);
}

/*
 * True if the CONTINUATION is the one that is due. If not, the link that it
 * came on fails, or first contact fails.
 */
static bool tokens_ok(struct lf *x)
{
	const struct smcr_llc_add_link_cont *ac = &x->ev->msg.add_link_cont;
	struct smcr_lgr_fsm *f = x->f;

	if (x->ev->slot != f->carrier) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return false;
	}
	if (ac->link_num != lf_subject(x)->num)
		carrier_fails(x, SMCR_R_LLC_LINK_DATA);
	else if (smcr_rtoken_count_step(&f->peer_tokens, ac->n_rtokens))
		carrier_fails(x, SMCR_R_LLC_COUNT);	/* LLC-40 */
	else
		return true;
	return false;
}

static void srv_rx_tokens(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (!tokens_ok(x))
		return;
	lf_pass_msg(x, SMCR_LGR_DO_LEARN, f->subject);
	if (f->tokens_left || f->peer_tokens.left) {
		srv_tx_tokens(x);
		return;
	}
	lf_act(x, SMCR_LGR_DO_UP, f->subject);
	lf_step(x, SMCR_LGR_S_ADD_UP, LF_NO_TIMER);
}

/*
 * The new link is in RTS. If a notice of the client has asked to delete this
 * link, the server deletes it and sends no CONFIRM LINK.
 */
static void srv_up(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (lf_subject(x)->del) {
		lf_add_undo(x, lf_subject(x)->del_reason ?: SMCR_DEL_LOST_PATH);
		return;
	}
	lf_send(x, f->subject, SMCR_LLC_CONFIRM_LINK, false, SMCR_LGR_NO_REPORT,
		f->subject)->confirm_link.link_num = lf_subject(x)->num;
	lf_step(x, SMCR_LGR_S_ADD_CONFIRM, lf_span(f));
}

/* Mark the asymmetric link for deletion if symmetric ones replace it (LG-33) */
static void replace_asym(struct lf *x)
{
	u8 slot[SMCR_SLOTS], i;
	struct smcr_pairs links;

	smcr_lgr_pairs(x->f, &links, slot);
	i = smcr_roles_replaced(&links);
	if (i == SMCR_NO_SLOT)
		return;
	x->f->slot[slot[i]].del = true;
	x->f->slot[slot[i]].del_orderly = true;
	x->f->slot[slot[i]].del_reason = SMCR_DEL_ASYMMETRIC;
}

static void link_active(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		f->slot[i].stays = 0;
	s->st = SMCR_SLOT_ACTIVE;
	s->age = f->ages++;
	f->backoff_reset = false;
	lf_pass_msg(x, SMCR_LGR_DO_AGREED, f->subject);
	lf_act(x, SMCR_LGR_DO_LIVE, f->subject);
	lf_retry_done(x);
	f->subject = SMCR_NO_SLOT;
	lf_go_after_all(x);
}

static void srv_confirmed(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);

	if (x->ev->slot != f->subject || x->ev->facts.link_data ||
	    x->ev->msg.confirm_link.link_num != s->num) {
		lf_add_undo(x, SMCR_DEL_PROTOCOL);	/* LLC-22 */
		return;
	}
	s->rkey_may_cross = true;
	link_active(x);
	lf_settled(x);
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	replace_asym(x);
	/*
	 * Attempt at once to add one more link. If no RNIC is left, the attempt
	 * fails, and lf_retry() starts T_RETRY if there is no redundancy.
	 */
	f->want_link = true;
}

/*
 * Give up the new link. The link exists, or may exist, at the client, so it is
 * deleted by DELETE LINK (LG-25, LLC-24, LLC-25). In first contact the group is
 * not used before the reply to DELETE LINK.
 */
void lf_add_undo(struct lf *x, u32 del_reason)
{
	struct smcr_fsm_link *s = lf_subject(x);
	u8 slot = x->f->subject;

	s->st = SMCR_SLOT_FAILED;
	s->del = true;
	s->del_orderly = false;
	s->del_reason = del_reason;
	lf_act(x, SMCR_LGR_DO_FAIL, slot)->why =
		del_reason == SMCR_DEL_PROTOCOL ? SMCR_R_LLC_LINK_DATA :
						  SMCR_R_LINK_ERROR;
	lf_del_begin(x, slot);
}

/*
 * The new link has failed, CONFIRM LINK has timed out, or the peer has violated
 * the protocol on the link; the reason code shows which (LLC-48)
 */
static void srv_undo(struct lf *x)
{
	lf_add_undo(x, lf_del_reason(x->ev->why));
}

/*
 * The RNIC of the new link is lost. When the reply that is due on the carrier
 * comes, it is ignored (I-20).
 */
static void srv_subject_lost(struct lf *x)
{
	lf_carrier(x)->ignore_replies |= x->f->step == SMCR_LGR_S_ADD_REPLY ?
			       BIT(SMCR_LLC_ADD_LINK) :
			       BIT(SMCR_LLC_ADD_LINK_CONT);
	srv_undo(x);
}

static void srv_making_lost(struct lf *x)
{
	lf_stop(x, x->f->subject);
	srv_not_made(x);
}

/*
 * The client has not replied in time to ADD LINK or ADD LINK CONTINUATION
 * (LLC-32, LLC-33, LLC-42)
 */
static void srv_silent(struct lf *x)
{
	if (x->f->first) {
		lf_first_silent(x);
		return;
	}
	x->f->want_link = true;
	lf_fail(x, x->f->carrier, SMCR_R_LLC_TIMEOUT);
}

/*
 * The carrier is lost. The new link may exist at the client already, so DELETE
 * LINK of it goes over another link, if there is one.
 */
static void srv_carrier_lost(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);

	if (f->first) {
		lf_first_down(x);
		return;
	}
	f->want_link = true;
	if (f->step == SMCR_LGR_S_ADD_MAKE) {
		lf_add_dropped(x);
		return;
	}
	s->st = SMCR_SLOT_FAILED;
	s->del = true;
	s->del_orderly = false;
	s->del_reason = SMCR_DEL_LOST_PATH;
	/* the event has no reason if it is a notice to delete the carrier */
	lf_act(x, SMCR_LGR_DO_FAIL, f->subject)->why =
		x->ev->why ?: SMCR_R_LINK_DELETED;
	f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/* Client: ADD LINK */

static void clt_refuse(struct lf *x, u8 slot, u8 num, u8 reason)
{
	struct smcr_llc *m;

	/*
	 * End first contact before the refusal is sent: the server may use the
	 * group as soon as the refusal arrives.
	 */
	lf_settled(x);
	m = lf_send(x, slot, SMCR_LLC_ADD_LINK, true, SMCR_LGR_NO_REPORT, 0);
	m->add_link.rejected = true;
	m->add_link.link_num = num;
	m->add_link.reject_reason = reason;
	x->f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/* The server offers a link (LG-20, LG-21) */
void lf_offered(struct lf *x)
{
	const struct smcr_llc_add_link *al = &x->ev->msg.add_link;
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s;
	u8 slot;

	f->sending = false;
	f->want_link = false;	/* an offer answers a notice (LLC-74) */
	if (!smcr_mtu_ok(al->mtu)) {
		clt_refuse(x, x->ev->slot, al->link_num, SMCR_ADD_LINK_BAD_MTU);
		return;
	}
	if (smcr_lgr_slot_of(f, al->link_num) != SMCR_NO_SLOT) {
		f->carrier = x->ev->slot;
		carrier_fails(x, SMCR_R_LLC_LINK_DATA);
		return;
	}
	slot = lf_free_slot(f);
	if (slot == SMCR_NO_SLOT) {
		clt_refuse(x, x->ev->slot, al->link_num,
			   SMCR_ADD_LINK_NO_ALT_PATH);
		return;
	}
	s = &f->slot[slot];
	s->st = SMCR_SLOT_MAKING;
	s->num = al->link_num;
	s->peer = x->ev->facts.nic;
	f->carrier = x->ev->slot;
	f->subject = slot;
	/* an own CONFIRM RKEY under way has no entry for this link */
	f->rkey_stale = true;
	lf_pass_msg(x, SMCR_LGR_DO_MAKE, slot);
	lf_step(x, SMCR_LGR_C_ADD_MAKE, LF_NO_TIMER);
}

static void clt_not_made(struct lf *x)
{
	struct smcr_fsm_link *s = lf_subject(x);
	u8 num = s->num;

	s->num = 0;
	clt_refuse(x, x->f->carrier, num, SMCR_ADD_LINK_NO_ALT_PATH);
}

static void clt_making_lost(struct lf *x)
{
	u8 num = lf_subject(x)->num;

	lf_stop(x, x->f->subject);
	clt_refuse(x, x->f->carrier, num, SMCR_ADD_LINK_NO_ALT_PATH);
}

/* The client's queue pair is ready to receive: accept the offer (LG-22) */
static void clt_made(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	struct smcr_pairs links;

	smcr_lgr_pairs(f, &links, NULL);
	if (!smcr_role_allowed(&links, f->max_links,
			       (struct smcr_nic_pair){ s->own, s->peer })) {
		clt_making_lost(x);
		return;
	}
	f->tokens_left = x->ev->n;
	f->peer_tokens = (struct smcr_rtoken_count){ };
	lf_send(x, f->carrier, SMCR_LLC_ADD_LINK, true, SMCR_LGR_NO_REPORT,
		f->subject)->add_link.link_num = s->num;
	lf_step(x, SMCR_LGR_C_ADD_TOKENS, lf_span(f));
}

/* Send the client's next two RTokens for the link in @slot (LLC-36, LLC-38) */
void lf_clt_tx_tokens(struct lf *x, u8 via, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_llc *m;

	m = lf_send(x, via, SMCR_LLC_ADD_LINK_CONT, true, SMCR_LGR_NO_REPORT, slot);
	m->add_link_cont.link_num = f->slot[slot].num;
	m->add_link_cont.n_rtokens = f->tokens_left;
	f->tokens_left = f->tokens_left > 2 ? f->tokens_left - 2 : 0;
}

static void clt_rx_tokens(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (!tokens_ok(x))
		return;
	lf_pass_msg(x, SMCR_LGR_DO_LEARN, f->subject);
	lf_clt_tx_tokens(x, f->carrier, f->subject);
	lf_step(x, f->tokens_left || f->peer_tokens.left ? SMCR_LGR_C_ADD_TOKENS :
					      SMCR_LGR_C_ADD_CONFIRM, lf_span(f));
}

/*
 * The new link cannot be confirmed, so the server has to delete it (LG-25,
 * LLC-43, LLC-44). In first contact the group is not used before that.
 */
static void clt_lost(struct lf *x, u32 del_reason)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	u8 slot = f->subject;

	s->st = SMCR_SLOT_FAILED;
	s->del_reason = del_reason;
	lf_act(x, SMCR_LGR_DO_FAIL, slot)->why =
		del_reason == SMCR_DEL_PROTOCOL ? SMCR_R_LLC_LINK_DATA :
						  SMCR_R_LINK_ERROR;
	lf_step(x, f->first ? SMCR_LGR_C_ADD_LOST : SMCR_LGR_IDLE, LF_NO_TIMER);
	f->subject = f->first ? slot : SMCR_NO_SLOT;
	lf_notice(x, slot);
	lf_retry(x);
}

static void clt_asked(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (x->ev->slot != f->subject || x->ev->facts.link_data ||
	    x->ev->msg.confirm_link.link_num != lf_subject(x)->num) {
		clt_lost(x, SMCR_DEL_PROTOCOL);		/* LLC-21 */
		return;
	}
	lf_act(x, SMCR_LGR_DO_UP, f->subject);
	lf_step(x, SMCR_LGR_C_ADD_UP, LF_NO_TIMER);
	/* AGREED records the server's link user ID, which is in CONFIRM LINK */
	lf_pass_msg(x, SMCR_LGR_DO_AGREED, f->subject);
}

static void clt_up(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	u8 slot = f->subject;

	s->st = SMCR_SLOT_ACTIVE;
	s->age = f->ages++;
	f->subject = SMCR_NO_SLOT;
	lf_act(x, SMCR_LGR_DO_LIVE, slot);
	lf_retry_done(x);
	lf_settled(x);
	lf_send(x, slot, SMCR_LLC_CONFIRM_LINK, true, SMCR_LGR_NO_REPORT,
		slot)->confirm_link.link_num = s->num;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	lf_go_after_all(x);
}

static void clt_undo(struct lf *x)
{
	clt_lost(x, lf_del_reason(x->ev->why));
}

/* The server's next RTokens have not come in time (LLC-42) */
static void clt_silent(struct lf *x)
{
	carrier_fails(x, SMCR_R_LLC_TIMEOUT);
}

/*
 * The carrier is lost. A notice over another link, if there is one, asks the
 * server to delete the new link.
 */
static void clt_carrier_lost(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 slot = f->subject;

	if (f->first) {
		lf_first_down(x);
		return;
	}
	if (f->step == SMCR_LGR_C_ADD_MAKE) {	/* offer not accepted yet */
		lf_add_dropped(x);
		return;
	}
	f->slot[slot].st = SMCR_SLOT_FAILED;
	f->slot[slot].del_reason = SMCR_DEL_LOST_PATH;
	lf_act(x, SMCR_LGR_DO_FAIL, slot)->why = x->ev->why;
	f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	lf_notice(x, slot);
}

/*
 * What each step waits for. For a message for which the step has no row here,
 * see message() in lgr_fsm.c.
 */
const struct lf_row lf_add_rows[] = {
	/* 3.5.1.6, 3.5.5.1.1: ADD LINK, server */
	{ SMCR_LGR_S_ADD_MAKE, LF_EV(MADE), srv_made },
	{ SMCR_LGR_S_ADD_MAKE, LF_FAILED(MADE), srv_not_made },
	{ SMCR_LGR_S_ADD_MAKE, LF_CARRIER_DOWN, srv_carrier_lost },
	{ SMCR_LGR_S_ADD_MAKE, LF_SUBJECT_DOWN, srv_making_lost },
	{ SMCR_LGR_S_ADD_REPLY, LF_EV(FIRST_SENT), lf_first_sent },
	{ SMCR_LGR_S_ADD_REPLY, LF_REPLY(ADD_LINK), srv_replied },
	{ SMCR_LGR_S_ADD_REPLY, LF_EV(TIMER), srv_silent },		/* LLC-32, 33 */
	{ SMCR_LGR_S_ADD_REPLY, LF_CARRIER_DOWN, srv_carrier_lost },
	{ SMCR_LGR_S_ADD_REPLY, LF_SUBJECT_DOWN, srv_subject_lost },
	/* 3.5.5.2.3 */
	{ SMCR_LGR_S_ADD_TOKENS, LF_REPLY(ADD_LINK_CONT), srv_rx_tokens },
	{ SMCR_LGR_S_ADD_TOKENS, LF_EV(TIMER), srv_silent },	/* LLC-42 */
	{ SMCR_LGR_S_ADD_TOKENS, LF_CARRIER_DOWN, srv_carrier_lost },
	{ SMCR_LGR_S_ADD_TOKENS, LF_SUBJECT_DOWN, srv_subject_lost },
	{ SMCR_LGR_S_ADD_UP, LF_EV(UP), srv_up },
	{ SMCR_LGR_S_ADD_UP, LF_FAILED(UP), srv_undo },
	{ SMCR_LGR_S_ADD_UP, LF_CARRIER_DOWN, srv_carrier_lost },
	{ SMCR_LGR_S_ADD_UP, LF_SUBJECT_DOWN, srv_undo },
	{ SMCR_LGR_S_ADD_CONFIRM, LF_REPLY(CONFIRM_LINK), srv_confirmed },
	{ SMCR_LGR_S_ADD_CONFIRM, LF_EV(TIMER), srv_undo },		/* LLC-24, 25 */
	{ SMCR_LGR_S_ADD_CONFIRM, LF_CARRIER_DOWN, srv_carrier_lost },
	{ SMCR_LGR_S_ADD_CONFIRM, LF_SUBJECT_DOWN, srv_undo },

	/* 3.5.1.6, 3.5.5.1.1: ADD LINK, client */
	{ SMCR_LGR_C_ADD_MAKE, LF_EV(MADE), clt_made },
	{ SMCR_LGR_C_ADD_MAKE, LF_FAILED(MADE), clt_not_made },
	{ SMCR_LGR_C_ADD_MAKE, LF_CARRIER_DOWN, clt_carrier_lost },
	{ SMCR_LGR_C_ADD_MAKE, LF_SUBJECT_DOWN, clt_making_lost },
	{ SMCR_LGR_C_ADD_TOKENS, LF_ASKS(ADD_LINK_CONT), clt_rx_tokens },
	{ SMCR_LGR_C_ADD_TOKENS, LF_EV(TIMER), clt_silent },	/* LLC-42 */
	{ SMCR_LGR_C_ADD_TOKENS, LF_CARRIER_DOWN, clt_carrier_lost },
	{ SMCR_LGR_C_ADD_TOKENS, LF_SUBJECT_DOWN, clt_undo },
	{ SMCR_LGR_C_ADD_CONFIRM, LF_ASKS(CONFIRM_LINK), clt_asked },
	{ SMCR_LGR_C_ADD_CONFIRM, LF_EV(TIMER), clt_undo },		/* LLC-43, 44 */
	{ SMCR_LGR_C_ADD_CONFIRM, LF_CARRIER_DOWN, clt_carrier_lost },
	{ SMCR_LGR_C_ADD_CONFIRM, LF_SUBJECT_DOWN, clt_undo },
	{ SMCR_LGR_C_ADD_UP, LF_EV(UP), clt_up },
	{ SMCR_LGR_C_ADD_UP, LF_FAILED(UP), clt_undo },
	{ SMCR_LGR_C_ADD_UP, LF_CARRIER_DOWN, clt_carrier_lost },
	{ SMCR_LGR_C_ADD_UP, LF_SUBJECT_DOWN, clt_undo },
	{ SMCR_LGR_C_ADD_LOST, LF_CARRIER_DOWN, lf_first_down },
};

const unsigned int lf_n_add_rows = ARRAY_SIZE(lf_add_rows);
