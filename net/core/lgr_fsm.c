// SPDX-License-Identifier: GPL-2.0-only
/*
 * State machine of a link group: dispatch of events.
 * See lgr_fsm.h.
 */
#include "byteio.h"
#include "env.h"
#include "lgr_fsm_int.h"

static const struct lf_row *row_in(const struct lf_row *row, unsigned int n,
				   u8 step, u16 code)
{
	for (; n; n--, row++)
		if (row->step == step && row->code == code)
			return row;
	return NULL;
}

/* The current step's row for a code, from the tables of the other files */
static const struct lf_row *row_of(const struct smcr_lgr_fsm *f, u16 code)
{
	const struct lf_row *row;

	row = row_in(lf_first_rows, lf_n_first_rows, f->step, code);
	if (!row)
		row = row_in(lf_add_rows, lf_n_add_rows, f->step, code);
	if (!row)
		row = row_in(lf_del_rows, lf_n_del_rows, f->step, code);
	if (!row)
		row = row_in(lf_asked_rows, lf_n_asked_rows, f->step, code);
	return row;
}

static void run(struct lf *x, u16 code)
{
	const struct lf_row *row = row_of(x->f, code);

	if (row)
		row->fn(x);
}

static void step_link_down(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->step == SMCR_LGR_IDLE)
		return;
	if (slot == f->subject)
		run(x, LF_SUBJECT_DOWN);
	else if (slot == f->carrier)
		run(x, LF_CARRIER_DOWN);
}

/*
 * A link has failed, as LINK_DOWN reports or lf_fail() has noted. The
 * connections of the link move at once, whichever side has noticed the failure
 * (FO-02). Then DELETE LINK deletes the link.
 */
static void link_down(struct lf *x, u8 slot, enum smcr_reason why)
{
	struct smcr_lgr_ev ev = { .type = SMCR_LGR_EV_LINK_DOWN, .slot = slot,
				  .why = why };
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];
	const struct smcr_lgr_ev *old = x->ev;
	u8 was = s->st;

	switch (was) {
	case SMCR_SLOT_ACTIVE:
	case SMCR_SLOT_LEAVING:
		s->st = SMCR_SLOT_FAILED;
		if (!s->del)
			s->del_reason = lf_del_reason(why);
		s->del = true;
		s->del_orderly = false;
		break;
	case SMCR_SLOT_MAKING:
	case SMCR_SLOT_ADDING:
		break;
	case SMCR_SLOT_GONE:
		/*
		 * If DELETE LINK came over the link that it deletes, the reply
		 * goes over that link, too. As this link has failed, the reply
		 * is lost.
		 */
		lf_answers_lost(x, slot);
		return;
	default:
		return;
	}
	x->ev = &ev;	/* the functions that run() calls read x->ev */
	if (f->first) {
		step_link_down(x, slot);
		goto out;
	}
	if (was != SMCR_SLOT_MAKING && was != SMCR_SLOT_ADDING &&
	    lf_usable(f, SMCR_NO_SLOT) == SMCR_NO_SLOT &&
	    !lf_take_back(x, slot)) {
		lf_last_link_lost(x, why);
		goto out;
	}
	if (was == SMCR_SLOT_ACTIVE)
		lf_act(x, SMCR_LGR_DO_MOVE, slot);
	step_link_down(x, slot);
	lf_forget_link(x, slot);
	/*
	 * Send a disorderly notice even if an orderly one was sent before the
	 * failure: the server may put an orderly deletion off (LG-38).
	 */
	if (!f->server && s->st == SMCR_SLOT_FAILED && !s->timed)
		lf_notice(x, slot);
out:
	x->ev = old;
}

/*
 * Process the links that were marked during the event. lf_fail() marks a link
 * that has failed. lf_drop_begun() marks a link that works, if the step that
 * the link carries has failed.
 */
static void follow_up(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		if (x->in_vain & BIT(i) && f->step != SMCR_LGR_IDLE &&
		    f->carrier == i)
			run(x, LF_CARRIER_DOWN);
		if (x->failed & BIT(i)) {
			x->failed &= ~BIT(i);
			f->failed_pending &= ~BIT(i);
			link_down(x, i, x->why[i]);
		}
	}
	x->in_vain = 0;
}

/*
 * An RNIC was added, so another link may be possible. The times between
 * attempts to add a link are short again.
 */
static void nic_added(struct lf *x)
{
	if (x->f->single)
		return;
	x->f->want_link = true;
	x->f->cause = true;
	x->f->tries = 0;
}

/*
 * A client's notice of an RNIC (LG-31, LG-32). The first notice resets the
 * back-off. Repeated ones do not, until T_RETRY expires or a link is added:
 * they must not keep the times between failed attempts short. A repeated notice
 * leads to an attempt after a pause. The end of that pause does not let a notice
 * reset the back-off. Without the pause, a client that refuses each offer and
 * repeats its notice would cost a queue pair in each round trip.
 */
void lf_peer_has_nic(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (!f->backoff_reset) {
		nic_added(x);
		f->backoff_reset = true;
		return;
	}
	f->cause = true;
	if (f->paused || f->single)
		return;
	f->paused = true;
	f->retrying = true;
	lf_arm(x, SMCR_LGR_T_RETRY, SMCR_SPAN_PAUSE);
}

static void request_do(struct lf *x)
{
	switch (x->ev->msg.type) {
	case SMCR_LLC_ADD_LINK:
		if (x->f->server)
			lf_peer_has_nic(x);
		else
			lf_offered(x);
		break;
	case SMCR_LLC_DELETE_LINK:
		lf_del_asked(x);
		break;
	case SMCR_LLC_CONFIRM_RKEY:
		lf_peer_confirms(x);
		break;
	case SMCR_LLC_CONFIRM_RKEY_CONT:
		lf_peer_continues(x);
		break;
	case SMCR_LLC_DELETE_RKEY:
		lf_peer_deletes(x);
		break;
	}
}

/*
 * Keep a DELETE RKEY until the step is over. One is enough: the peer has at
 * most one under way (LLC-15).
 */
static void request_defer(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->deferred_via != SMCR_NO_SLOT) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return;
	}
	f->deferred = x->ev->msg;
	f->deferred.delete_rkey.error_mask = x->ev->facts.rkey_mask;
	f->deferred_via = x->ev->slot;
}

static void request(struct lf *x)
{
	switch (lf_verdict(x->f, x->ev->msg.type)) {
	case LF_DO:
		request_do(x);
		break;
	case LF_NOTE:
		lf_peer_has_nic(x);
		break;
	case LF_DEFER:
		request_defer(x);
		break;
	case LF_REFUSE:
		lf_peer_refuse(x);
		break;
	case LF_IGNORE:
		if (x->ev->msg.type == SMCR_LLC_ADD_LINK && x->f->server)
			lf_add_asked(x);
		break;
	case LF_GIVEN_UP:
		if (!lf_given_up(x)) {
			lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
			break;
		}
		request_do(x);
		break;
	case LF_FAIL:
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		break;
	}
}

/* True if the message is a reply to an abandoned request (I-20) */
static bool late_reply(struct lf *x)
{
	struct smcr_fsm_link *s = &x->f->slot[x->ev->slot];
	u8 type = x->ev->msg.type;

	if (!x->ev->msg.reply || !(s->ignore_replies & BIT(type)))
		return false;
	s->ignore_replies &= ~BIT(type);
	s->owed &= ~BIT(type);
	s->sure &= ~BIT(type);
	if (x->f->server && type == SMCR_LLC_DELETE_LINK)
		lf_deleted_late(x);
	return true;
}

/*
 * True if the message is a reply to an abandoned request. Its type is in .sure
 * if the request's link has stayed. The client answers requests in their order,
 * so this reply comes before replies to later requests. But a reply to DELETE
 * LINK that names the subject is the one that the step waits for.
 */
static bool overtaken(struct lf *x)
{
	const struct smcr_llc *m = &x->ev->msg;

	if (!m->reply || !(x->f->slot[x->ev->slot].sure & BIT(m->type)))
		return false;
	return m->type != SMCR_LLC_DELETE_LINK ||
	       m->delete_link.link_num != lf_subject(x)->num;
}

/* A reply that the step does not wait for */
static void stray_reply(struct lf *x)
{
	u8 type = x->ev->msg.type;

	if (!x->f->server && type == SMCR_LLC_DELETE_LINK &&
	    x->ev->msg.delete_link.reason == SMCR_DEL_UNKNOWN_LINK) {
		lf_link_unknown(x);
		return;
	}
	lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
}

/*
 * True if a request is not processed further. An offer has to name a
 * queue pair, a link and a GID (I-14). A client's notice only asks for an
 * offer, so none of its fields can be wrong. A client answers ADD LINK
 * CONTINUATION even for a link that it has given up, and its answer counts the
 * RTokens that the exchange has reached. Without an answer the server would take
 * the carrier for failed (LLC-42), with another count it would take the carrier
 * for out of sync (LLC-40).
 */
static bool message_invalid(struct lf *x)
{
	const struct smcr_llc *m = &x->ev->msg;
	u8 slot;

	if (x->f->server || m->reply)
		return false;
	if (m->type == SMCR_LLC_ADD_LINK &&
	    (!m->add_link.link_num || !m->add_link.qpn ||
	     smcr_bytes_zero(m->add_link.gid, sizeof(m->add_link.gid)))) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return true;
	}
	if (m->type != SMCR_LLC_ADD_LINK_CONT)
		return false;
	slot = smcr_lgr_slot_of(x->f, m->add_link_cont.link_num);
	if (slot == SMCR_NO_SLOT || !x->f->slot[slot].notice_sent)
		return false;
	lf_clt_tx_tokens(x, x->ev->slot, slot);
	return true;
}

static void message(struct lf *x)
{
	struct smcr_fsm_link *s = &x->f->slot[x->ev->slot];
	const struct smcr_llc *m = &x->ev->msg;
	bool all = m->type == SMCR_LLC_DELETE_LINK && !m->reply &&
		   m->delete_link.all;
	u16 code = m->type | (m->reply ? 0x80 : 0);

	if (all) {
		lf_end_asked(x);
		return;
	}
	/* a message on a failed or deleted link is stale (LLC-54) */
	if (s->st == SMCR_SLOT_FREE || s->st == SMCR_SLOT_GONE ||
	    s->st == SMCR_SLOT_FAILED)
		return;
	if (s->notice_sent && !m->reply) {
		lf_ignored(x);
		return;
	}
	if (message_invalid(x))
		return;
	/* a link that is being added carries CONFIRM LINK only (LLC-05) */
	if (s->st == SMCR_SLOT_MAKING ||
	    (s->st == SMCR_SLOT_ADDING && x->ev->slot == x->f->subject &&
	     m->type != SMCR_LLC_CONFIRM_LINK)) {
		lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
		return;
	}
	/* an awaited reply on the carrier is late only if overtaken() */
	if (x->ev->slot != x->f->carrier || !row_of(x->f, code) || overtaken(x))
		if (late_reply(x))
			return;
	if (m->reply && lf_is_rkey(m->type))
		lf_rkey_reply(x);
	else if (row_of(x->f, code))
		run(x, code);
	else if (m->reply)
		stray_reply(x);
	else
		request(x);
	if (!x->f->server && !m->reply && !lf_is_rkey(m->type) &&
	    m->type != SMCR_LLC_CONFIRM_LINK)
		lf_notices_wait(x);
}

/* Timers */

static void timer_over(struct lf *x)
{
	u8 timer = x->ev->timer;

	switch (timer) {
	case SMCR_LGR_T_STEP:
		run(x, LF_EV(TIMER));
		break;
	case SMCR_LGR_T_RKEY:
		lf_rkey_silent(x);
		break;
	case SMCR_LGR_T_RETRY:
		x->f->want_link = true;
		x->f->backoff_reset &= x->f->paused;
		x->f->paused = false;
		x->f->retrying = false;
		/*
		 * A server starts T_RETRY again when an attempt fails. A client
		 * does so here, since it receives no reply to its notice.
		 */
		if (!x->f->server)
			lf_retry(x);
		break;
	default:
		if (timer >= SMCR_LGR_T_NOTICE && timer < NR_SMCR_LGR_TIMER)
			lf_notice_silent(x, timer - SMCR_LGR_T_NOTICE);
	}
}

/*
 * Run the row for an action's outcome, if the action's link is the step's
 * subject or carrier.
 */
static void result(struct lf *x, bool ok)
{
	struct smcr_lgr_fsm *f = x->f;

	if (x->ev->slot == f->subject ||
	    (x->ev->slot == f->carrier && f->step != SMCR_LGR_IDLE &&
	     f->first))
		run(x, (ok ? 0x100 : 0x200) | x->ev->type);
}

static void made(struct lf *x)
{
	struct smcr_fsm_link *s = &x->f->slot[x->ev->slot];

	/*
	 * If the link was deleted while its queue pair was being made, DO_STOP
	 * was returned then, and destroys the queue pair.
	 */
	if (s->st != SMCR_SLOT_MAKING)
		return;
	s->own = x->ev->nic;
	if (!x->ev->ok)
		s->st = SMCR_SLOT_FREE;
	else
		s->st = SMCR_SLOT_ADDING;
	result(x, x->ev->ok);
}

static void stopped(struct lf *x)
{
	struct smcr_fsm_link *s = &x->f->slot[x->ev->slot];

	memset(s, 0, sizeof(*s));
	s->st = SMCR_SLOT_FREE;
}

static void dispatch(struct lf *x)
{
	switch (x->ev->type) {
	case SMCR_LGR_EV_MSG:
		message(x);
		break;
	case SMCR_LGR_EV_FIRST_SENT:
		if (x->f->sending)
			run(x, LF_EV(FIRST_SENT));
		break;
	case SMCR_LGR_EV_ANSWER_SENT:
		lf_answer_sent(x, x->ev->slot);
		break;
	case SMCR_LGR_EV_MADE:
		made(x);
		break;
	case SMCR_LGR_EV_UP:
		result(x, x->ev->ok);
		break;
	case SMCR_LGR_EV_MOVED:
		result(x, true);
		break;
	case SMCR_LGR_EV_STOPPED:
		stopped(x);
		break;
	case SMCR_LGR_EV_RKEY_READY:
		lf_rkey_ready(x);
		break;
	case SMCR_LGR_EV_TIMER:
		timer_over(x);
		break;
	case SMCR_LGR_EV_LINK_DOWN:
		link_down(x, x->ev->slot, x->ev->why);
		break;
	case SMCR_LGR_EV_FIRST:
		lf_first(x);
		break;
	case SMCR_LGR_EV_WANT_LINK:
		nic_added(x);
		break;
	case SMCR_LGR_EV_WANT_DEL:
		lf_want_del(x);
		break;
	case SMCR_LGR_EV_WANT_RKEY:
		lf_rkey_want(x);
		break;
	}
}

/*
 * Slot of the link to delete next, or SMCR_NO_SLOT. A link whose DELETE LINK
 * has to be sent again comes first (LLC-50). Then comes a link on which the
 * client ignores requests (.wanted, LLC-54): if it came last, DELETE LINK of
 * another link might have to go over it, and the client would ignore that.
 */
static u8 next_del(const struct smcr_lgr_fsm *f)
{
	u8 i, next = SMCR_NO_SLOT;

	for (i = 0; i < SMCR_SLOTS; i++) {
		const struct smcr_fsm_link *s = &f->slot[i];

		if (!s->del || (s->st != SMCR_SLOT_ACTIVE &&
				s->st != SMCR_SLOT_LEAVING &&
				s->st != SMCR_SLOT_FAILED))
			continue;
		if (s->del_sent)
			return i;
		if (next == SMCR_NO_SLOT ||
		    (s->wanted && !f->slot[next].wanted))
			next = i;
	}
	return next;
}

/*
 * Send the client's notice that another link is possible (LG-31), but not while
 * the group has its maximum of links (LG-11).
 */
static void client_idle(struct lf *x)
{
	u8 via = lf_usable(x->f, SMCR_NO_SLOT);
	struct smcr_pairs links;

	if (!x->f->want_link || via == SMCR_NO_SLOT)
		return;
	smcr_lgr_pairs(x->f, &links, NULL);
	if (smcr_roles_full(&links, x->f->max_links))
		return;
	x->f->want_link = false;
	lf_send(x, via, SMCR_LLC_ADD_LINK, false, SMCR_LGR_NO_REPORT, 0);
}

/*
 * If no step is under way, begin the next exchange: one at a time (LLC-15).
 * During an own RKEY exchange, a server does not change the group either.
 * Deletions come first: their number is limited, so they do not delay other
 * exchanges for ever. An own RKEY exchange that has waited for another exchange
 * comes before ADD LINK, so repeated notices of a client do not delay it for
 * ever. True: something was begun or answered.
 */
static bool idle(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	bool rkey;
	u8 slot;

	if (f->step != SMCR_LGR_IDLE || f->first || f->ending)
		return false;
	if (f->deferred_via != SMCR_NO_SLOT) {
		lf_deferred_answer(x);
		return true;
	}
	if (!f->server)
		client_idle(x);
	if (f->rkey > SMCR_RKEY_WANTED)
		return false;
	if (lf_awaits_notice(f)) {
		lf_client_wait(x);
		return false;
	}
	slot = f->server ? next_del(f) : SMCR_NO_SLOT;
	rkey = f->rkey == SMCR_RKEY_WANTED && !f->rkey_preparing;
	if (slot != SMCR_NO_SLOT)
		lf_del_begin(x, slot);
	else if (f->server && f->want_link && !(rkey && f->rkey_passed))
		lf_add_begin(x);
	else if (rkey)
		lf_rkey_begin(x);
	else
		return false;
	f->rkey_passed |= f->rkey == SMCR_RKEY_WANTED;
	return true;
}

/* Process the oldest kept request whose link stays; false: there is none */
static bool kept(struct lf *x)
{
	const struct smcr_lgr_ev *old = x->ev;
	struct smcr_lgr_ev ev = { };

	if (x->f->ending || x->f->step == SMCR_LGR_OVER || !lf_kept_take(x, &ev))
		return false;
	x->ev = &ev;
	message(x);
	x->ev = old;
	return true;
}

/**
 * smcr_lgr_fsm_init() - initialise the machine of a new link group
 * @f: state
 * @server: this side is the server
 * @max_links: maximum of symmetric links that this side wants, 1..8; a server
 *	with 1 offers a second link in first contact (LG-18), but none later
 */
void smcr_lgr_fsm_init(struct smcr_lgr_fsm *f, bool server, u8 max_links)
{
	memset(f, 0, sizeof(*f));
	f->server = server;
	f->max_links = max_t(u8, max_links, SMCR_LINKS_MIN);
	f->single = max_links == 1;
	f->first = true;
	f->carrier = SMCR_NO_SLOT;
	f->subject = SMCR_NO_SLOT;
	f->rkey_via = SMCR_NO_SLOT;
	f->peer_via = SMCR_NO_SLOT;
	f->deferred_via = SMCR_NO_SLOT;
}

/**
 * smcr_lgr_fsm_step() - process one event of a link group
 * @f: state
 * @ev: event; the slot of MADE, UP, MOVED and STOPPED is that of the action
 *	whose outcome they report
 * @out: filled with actions, to be carried out in their order
 *
 * Context: any; the caller serialises all calls for one group.
 */
void smcr_lgr_fsm_step(struct smcr_lgr_fsm *f, const struct smcr_lgr_ev *ev,
		       struct smcr_lgr_out *out)
{
	struct lf x = { .f = f, .ev = ev, .out = out };

	out->n = 0;
	out->n_msg = 0;
	if (ev->type == SMCR_LGR_EV_WANT_END)
		lf_end(&x);
	else if (f->ending)
		lf_end_event(&x);
	else if (f->step != SMCR_LGR_OVER || ev->type == SMCR_LGR_EV_STOPPED)
		dispatch(&x);
	do {
		while (x.failed || x.in_vain)
			follow_up(&x);
	} while (kept(&x) || idle(&x));
}
