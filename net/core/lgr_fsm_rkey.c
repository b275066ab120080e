// SPDX-License-Identifier: GPL-2.0-only
/*
 * CONFIRM RKEY, its CONTINUATION and DELETE RKEY, of both sides: RFC 7609
 * 3.5.5.2.1, 3.5.5.2.2, A.3.5 to A.3.7, C.7.1. See lgr_fsm.h.
 */
#include "env.h"
#include "lgr_fsm_int.h"

enum {
	FIRST_ENTRIES = 2,	/* other-link entries in CONFIRM RKEY */
	CONT_ENTRIES = 3,	/* other-link entries in its CONTINUATION */
	RKEY_WAITS = 8,		/* a step may delay a reply by so many T_LLC */
};

/* Own exchange */

static void rkey_done(struct lf *x, enum smcr_rkey_res res,
		      enum smcr_reason why)
{
	struct smcr_lgr_act *a = lf_act(x, SMCR_LGR_DO_RKEY_DONE, SMCR_NO_SLOT);

	a->res = res;
	a->why = why;
	lf_disarm(x, SMCR_LGR_T_RKEY);
	x->f->rkey = SMCR_RKEY_NONE;
	x->f->rkey_via = SMCR_NO_SLOT;
}

/*
 * SMCR_LGR_EV_WANT_RKEY, which the caller passes for one RKEY exchange at a
 * time. T_RKEY limits how long other exchanges of either side delay this one.
 */
void lf_rkey_want(struct lf *x)
{
	x->f->rkey_del = x->ev->ok;
	if (x->f->rkey != SMCR_RKEY_NONE)
		return;
	x->f->rkey = SMCR_RKEY_WANTED;
	x->f->rkey_passed = false;
	x->f->rkey_waits = 0;
	lf_arm(x, SMCR_LGR_T_RKEY, SMCR_SPAN_NOTICE);
}

/*
 * No other exchange is under way: begin with DO_PREPARE. For CONFIRM RKEY this
 * action registers the RMB on the links where it is not registered yet
 * (RMB-21).
 */
void lf_rkey_begin(struct lf *x)
{
	x->f->rkey = SMCR_RKEY_PREPARE;
	x->f->rkey_preparing = true;
	x->f->rkey_stale = false;
	x->f->rkey_lost = false;
	lf_act(x, SMCR_LGR_DO_PREPARE, SMCR_NO_SLOT);
}

static u8 n_active(const struct smcr_lgr_fsm *f)
{
	u8 i, n = 0;

	for (i = 0; i < SMCR_SLOTS; i++)
		n += f->slot[i].st == SMCR_SLOT_ACTIVE;
	return n;
}

static void rkey_send(struct lf *x, u8 type)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_llc *m;

	m = lf_send(x, f->rkey_via, type, false, SMCR_LGR_NO_REPORT, 0);
	if (type == SMCR_LLC_CONFIRM_RKEY) {
		m->confirm_rkey.n_other = f->rkey_left;
		f->rkey_left -= min_t(u8, f->rkey_left, FIRST_ENTRIES);
	} else if (type == SMCR_LLC_CONFIRM_RKEY_CONT) {
		m->confirm_rkey_cont.n_left = f->rkey_left;
		f->rkey_left -= min_t(u8, f->rkey_left, CONT_ENTRIES);
	}
	if (f->rkey != SMCR_RKEY_SENT)
		f->rkey_waits = 0;
	f->rkey = SMCR_RKEY_SENT;
	f->rkey_type = type;
	lf_arm(x, SMCR_LGR_T_RKEY, SMCR_SPAN_LLC);
}

/*
 * SMCR_LGR_EV_RKEY_READY: the outcome of DO_PREPARE. If the links are being
 * changed, or were changed since DO_PREPARE was ordered, the exchange begins
 * again afterwards, with DO_PREPARE for the links that exist then.
 */
void lf_rkey_ready(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	f->rkey_preparing = false;
	if (f->rkey != SMCR_RKEY_PREPARE)
		return;
	if (f->step != SMCR_LGR_IDLE || f->rkey_stale || lf_awaits_notice(f)) {
		f->rkey = SMCR_RKEY_WANTED;
		if (f->rkey_waits)	/* T_RKEY has expired */
			rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_LGR_BUSY);
		return;
	}
	if (!x->ev->ok) {
		rkey_done(x, SMCR_RKEY_FAILED, x->ev->why);
		return;
	}
	/* the link that the caller has chosen, if it is usable (LLC-58) */
	f->rkey_via = x->ev->slot;
	if (f->rkey_via >= SMCR_SLOTS ||
	    f->slot[f->rkey_via].st != SMCR_SLOT_ACTIVE ||
	    f->slot[f->rkey_via].notice_sent || f->slot[f->rkey_via].del) {
		/* DELETE RKEY: on another link the RMB may have no RKey */
		f->rkey_via = f->rkey_del && x->ev->slot < SMCR_SLOTS ?
			      SMCR_NO_SLOT : smcr_lgr_send_slot(f);
	}
	if (f->rkey_via == SMCR_NO_SLOT) {
		rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_NO_LINK);
		return;
	}
	f->rkey_left = f->rkey_del ? 0 : n_active(f) - 1;
	rkey_send(x, f->rkey_del ? SMCR_LLC_DELETE_RKEY :
				   SMCR_LLC_CONFIRM_RKEY);
}

/* Is the reply a refusal (LLC-60)? *@retry: true if the peer refuses for now */
static bool refused(const struct smcr_llc *m, bool *retry)
{
	*retry = false;
	switch (m->type) {
	case SMCR_LLC_CONFIRM_RKEY:
		*retry = m->confirm_rkey.retry;
		return m->confirm_rkey.negative;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		/* a CONTINUATION has no flag C: begin the exchange again */
		*retry = true;
		return m->confirm_rkey_cont.negative;
	default:
		/* a peer that does not have the RKey cannot use it (LLC-68) */
		return false;
	}
}

/* A reply to an own request, or an unexpected reply, has come */
void lf_rkey_reply(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	const struct smcr_llc *m = &x->ev->msg;
	bool del = m->type == SMCR_LLC_DELETE_RKEY;
	bool retry;

	if (f->rkey != SMCR_RKEY_SENT || x->ev->slot != f->rkey_via ||
	    f->rkey_del != del) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return;
	}
	if (x->ev->facts.echo) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_RKEY);
		return;
	}
	if (refused(m, &retry)) {
		rkey_done(x, retry ? SMCR_RKEY_AGAIN : SMCR_RKEY_REFUSED,
			  SMCR_R_RKEY_REFUSED);
		return;
	}
	if (f->rkey_left && f->rkey_lost)	/* there are fewer links now */
		rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_LGR_BUSY);
	else if (f->rkey_left)
		rkey_send(x, SMCR_LLC_CONFIRM_RKEY_CONT);
	/* a link was added, or stays, since DO_PREPARE: no entry (LLC-55) */
	else if (f->rkey_stale && !f->rkey_del)
		rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_LGR_BUSY);
	else
		rkey_done(x, SMCR_RKEY_OK, SMCR_R_NONE);
}

/*
 * T_RKEY has expired (LLC-63, I-18). A server that changes the group may delay
 * its reply until the change is complete (I-19), but not longer than RKEY_WAITS
 * times T_LLC. If the request was not sent yet, other exchanges have delayed
 * it, and the caller may repeat it.
 */
void lf_rkey_silent(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->rkey == SMCR_RKEY_NONE)
		return;
	f->rkey_waits++;
	if (f->rkey == SMCR_RKEY_PREPARE)
		return;		/* lf_rkey_ready() follows */
	if (f->rkey == SMCR_RKEY_WANTED)
		rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_LGR_BUSY);
	else if (f->step != SMCR_LGR_IDLE && f->rkey_waits < RKEY_WAITS)
		lf_arm(x, SMCR_LGR_T_RKEY, SMCR_SPAN_LLC);
	else
		lf_fail(x, f->rkey_via, SMCR_R_LLC_TIMEOUT);
}

/*
 * If the link in @slot carries the own exchange, no reply comes: end the
 * exchange. The caller repeats it over another link.
 */
void lf_rkey_in_vain(struct lf *x, u8 slot)
{
	if (x->f->rkey == SMCR_RKEY_SENT && x->f->rkey_via == slot)
		rkey_done(x, SMCR_RKEY_AGAIN, SMCR_R_LINK_ERROR);
}

/* Drop the RKEY exchanges of either side on a lost link (LLC-13, LLC-91) */
void lf_rkey_link_down(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;

	lf_rkey_in_vain(x, slot);
	if (f->peer_via == slot) {
		f->peer_rkey = 0;
		f->peer_via = SMCR_NO_SLOT;
	}
	if (f->deferred_via == slot)
		f->deferred_via = SMCR_NO_SLOT;
}

/* The peer's exchange */

/* Reply with Z and, if the peer may ask again later, with C (LLC-60) */
static void peer_no(struct lf *x, bool retry)
{
	struct smcr_llc m = x->ev->msg;

	if (m.type == SMCR_LLC_CONFIRM_RKEY) {
		m.confirm_rkey.negative = true;
		m.confirm_rkey.retry = retry;
	} else {	/* the rest of the message is echoed (LLC-59) */
		m.confirm_rkey_cont.negative = true;
	}
	x->f->peer_rkey = 0;
	x->f->peer_via = SMCR_NO_SLOT;
	lf_reply(x, &m);
}

/* Refuse for now, as the group is being changed (LLC-77, LLC-82) */
void lf_peer_refuse(struct lf *x)
{
	peer_no(x, true);
}

/* Record the links that @n entries name; false: one is unknown (LLC-64) */
static bool name_links(struct lf *x, const struct smcr_llc_rkey_entry *e, u8 n,
		       bool *retry)
{
	u8 i, slot;

	*retry = false;
	for (i = 0; i < n; i++) {
		slot = smcr_lgr_slot_of(x->f, e[i].link_num);
		if (slot == SMCR_NO_SLOT) {
			/* the peer may have sent this before the deletion */
			*retry = lf_is_gone(x->f, e[i].link_num);
			return false;
		}
		x->f->peer_named |= BIT(slot);
	}
	return true;
}

/*
 * Set *@missing to the active links that the peer's CONFIRM RKEY has not named:
 * these have failed at the peer (LLC-62). But a client may have sent CONFIRM
 * RKEY over one link before it replied to CONFIRM LINK on another. Then this
 * function returns true, and the client is asked once to repeat CONFIRM RKEY.
 */
static bool links_missing(struct lf *x, u16 *missing)
{
	struct smcr_lgr_fsm *f = x->f;
	bool fresh = false;
	u8 i;

	*missing = 0;
	for (i = 0; i < SMCR_SLOTS; i++) {
		struct smcr_fsm_link *s = &f->slot[i];

		if (s->st != SMCR_SLOT_ACTIVE)
			continue;
		if (!(f->peer_named & BIT(i))) {
			*missing |= BIT(i);
			fresh |= s->rkey_may_cross;
		}
		s->rkey_may_cross = false;
	}
	return fresh;
}

/* All entries of an RMB have arrived */
static void peer_complete(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u16 missing;
	u8 i;

	if (links_missing(x, &missing)) {
		peer_no(x, true);
		return;
	}
	f->peer_rkey = 0;
	f->peer_via = SMCR_NO_SLOT;
	lf_pass_msg(x, SMCR_LGR_DO_LEARN_RMB, x->ev->slot);
	x->out->act[x->out->n - 1].last = true;
	lf_reply(x, &x->ev->msg);
	for (i = 0; i < SMCR_SLOTS; i++)
		if (missing & BIT(i))
			lf_fail(x, i, SMCR_R_LLC_RKEY);
}

/* More messages follow for the same RMB (LLC-57) */
static void peer_more(struct lf *x, u8 left)
{
	x->f->peer_rkey = left;
	x->f->peer_via = x->ev->slot;
	lf_pass_msg(x, SMCR_LGR_DO_LEARN_RMB, x->ev->slot);
	lf_reply(x, &x->ev->msg);
}

/* CONFIRM RKEY of the peer */
void lf_peer_confirms(struct lf *x)
{
	const struct smcr_llc_confirm_rkey *ck = &x->ev->msg.confirm_rkey;
	struct smcr_lgr_fsm *f = x->f;
	bool retry;

	f->peer_named = BIT(x->ev->slot);
	if (x->ev->facts.full) {
		peer_no(x, false);
		return;
	}
	if (!name_links(x, ck->other, min_t(u8, ck->n_other, FIRST_ENTRIES),
			&retry)) {
		peer_no(x, retry);
		return;
	}
	if (ck->n_other > FIRST_ENTRIES)
		peer_more(x, ck->n_other - FIRST_ENTRIES);
	else
		peer_complete(x);
}

/*
 * CONTINUATION of the peer. It has to come on the same link as the peer's
 * CONFIRM RKEY, and with the number of entries that are still due.
 */
void lf_peer_continues(struct lf *x)
{
	const struct smcr_llc_confirm_rkey_cont *cc =
		&x->ev->msg.confirm_rkey_cont;
	struct smcr_lgr_fsm *f = x->f;
	bool retry;

	if (x->ev->slot != f->peer_via || cc->n_left != f->peer_rkey) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return;
	}
	if (!name_links(x, cc->other, min_t(u8, cc->n_left, CONT_ENTRIES),
			&retry))
		peer_no(x, retry);
	else if (cc->n_left > CONT_ENTRIES)
		peer_more(x, cc->n_left - CONT_ENTRIES);
	else
		peer_complete(x);
}

/* DELETE RKEY of the peer: drop the RTokens of the RMB on all links (LLC-67) */
void lf_peer_deletes(struct lf *x)
{
	struct smcr_llc m = x->ev->msg;

	m.delete_rkey.error_mask = x->ev->facts.rkey_mask;
	m.delete_rkey.negative = m.delete_rkey.error_mask != 0;
	lf_pass_msg(x, SMCR_LGR_DO_FORGET_RMB, x->ev->slot);
	lf_reply(x, &m);
}

/* Answer the DELETE RKEY that has waited for the end of the step (LLC-90) */
void lf_deferred_answer(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_lgr_ev ev = {
		.type = SMCR_LGR_EV_MSG,
		.slot = f->deferred_via,
		.facts.rkey_mask = f->deferred.delete_rkey.error_mask,
		.msg = f->deferred,
	};
	const struct smcr_lgr_ev *old = x->ev;

	f->deferred_via = SMCR_NO_SLOT;
	x->ev = &ev;
	lf_peer_deletes(x);
	x->ev = old;
}
