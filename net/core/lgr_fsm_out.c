// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of the steps of a link group: actions, links, the end of first
 * contact. See lgr_fsm.h.
 */
#include "env.h"
#include "lgr_fsm_int.h"

/* Actions */

struct smcr_lgr_act *lf_act(struct lf *x, u8 type, u8 slot)
{
	struct smcr_lgr_out *out = x->out;
	struct smcr_lgr_act *a;

	/* the array is never full: the tests check its size */
	if (out->n == SMCR_LGR_ACTS)
		out->n--;
	a = &out->act[out->n++];
	memset(a, 0, sizeof(*a));
	a->type = type;
	a->slot = slot;
	return a;
}

static struct smcr_llc *out_msg(struct lf *x, struct smcr_lgr_act *a)
{
	struct smcr_lgr_out *out = x->out;

	if (out->n_msg == SMCR_LGR_MSGS)
		out->n_msg--;
	a->msg = out->n_msg++;
	memset(&out->msg[a->msg], 0, sizeof(out->msg[0]));
	return &out->msg[a->msg];
}

/* Send a message on the link in @slot; the calling step fills in its fields */
struct smcr_llc *lf_send(struct lf *x, u8 slot, u8 type, bool reply,
			 u8 report, u8 about)
{
	struct smcr_lgr_act *a = lf_act(x, SMCR_LGR_DO_SEND, slot);
	struct smcr_llc *msg = out_msg(x, a);

	a->report = report;
	a->about = about;
	msg->type = type;
	msg->reply = reply;
	return msg;
}

/* Answer on the link on which the event's message came (LLC-04) */
void lf_reply(struct lf *x, const struct smcr_llc *msg)
{
	struct smcr_llc *m;

	m = lf_send(x, x->ev->slot, msg->type, true, SMCR_LGR_NO_REPORT, 0);
	*m = *msg;
	m->reply = true;
}

/* Add an action with the event's message; .about: the link that it came on */
void lf_pass_msg(struct lf *x, u8 type, u8 slot)
{
	struct smcr_lgr_act *a = lf_act(x, type, slot);

	a->about = x->ev->slot;
	*out_msg(x, a) = x->ev->msg;
}

void lf_arm(struct lf *x, u8 timer, u8 span)
{
	struct smcr_lgr_act *a = lf_act(x, SMCR_LGR_DO_ARM, SMCR_NO_SLOT);

	a->timer = timer;
	a->span = span;
	if (span == SMCR_SPAN_RETRY)
		a->n = min_t(u8, x->f->tries, 4);
}

void lf_disarm(struct lf *x, u8 timer)
{
	lf_act(x, SMCR_LGR_DO_DISARM, SMCR_NO_SLOT)->timer = timer;
}

/* Enter a step; @span: the time of its T_STEP; LF_NO_TIMER: it has none */
void lf_step(struct lf *x, u8 step, u8 span)
{
	x->f->step = step;
	if (span == LF_NO_TIMER)
		lf_disarm(x, SMCR_LGR_T_STEP);
	else
		lf_arm(x, SMCR_LGR_T_STEP, span);
}

/*
 * Start T_RETRY for another attempt to add a link, as long as there is no
 * redundancy, which is two symmetric links (LG-27). A client does not restart
 * T_RETRY while it runs: that would delay the notice that follows its expiry.
 */
void lf_retry(struct lf *x)
{
	if (x->f->ending || x->f->single || lf_redundant(x->f) ||
	    (x->f->retrying && !x->f->server))
		return;
	x->f->retrying = true;
	if (!x->f->paused)
		lf_arm(x, SMCR_LGR_T_RETRY, SMCR_SPAN_RETRY);
	/*
	 * If cause_tried is still set, an RNIC was added before the last
	 * attempt began, and the client has not replied to that attempt. So the
	 * next attempt has to try this RNIC again.
	 */
	x->f->cause |= x->f->cause_tried;
	x->f->cause_tried = false;
	/*
	 * tries selects the time (lf_arm()), and another RNIC for each attempt
	 * (lf_make()). After 255 it goes on with 0x80: with 0 the time would be
	 * the shortest one, and 255 for ever would always select the same RNIC.
	 */
	if (!++x->f->tries)
		x->f->tries = 0x80;
}

/*
 * A link was added: the times between attempts are short again. If there is
 * redundancy, T_RETRY stops.
 */
void lf_retry_done(struct lf *x)
{
	x->f->tries = 0;
	if (!lf_redundant(x->f))
		return;
	x->f->retrying = false;
	x->f->paused = false;
	lf_disarm(x, SMCR_LGR_T_RETRY);
}

/* Links */

u8 lf_free_slot(const struct smcr_lgr_fsm *f)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (f->slot[i].st == SMCR_SLOT_FREE)
			return i;
	return SMCR_NO_SLOT;
}

/*
 * Is link @a better than @b to send on? Criteria, in this order: the client
 * does not ignore requests on the link (LLC-54); it is not to be deleted; it is
 * older.
 */
static bool better(const struct smcr_fsm_link *a, const struct smcr_fsm_link *b)
{
	if (a->wanted != b->wanted)
		return b->wanted;
	if (a->del != b->del)
		return b->del;
	return a->age < b->age;
}

/* The active link other than @not that is best to send on, or SMCR_NO_SLOT */
u8 lf_usable(const struct smcr_lgr_fsm *f, u8 not)
{
	u8 i, best = SMCR_NO_SLOT;

	for (i = 0; i < SMCR_SLOTS; i++) {
		if (i == not || f->slot[i].st != SMCR_SLOT_ACTIVE ||
		    f->slot[i].notice_sent || f->failed_pending & BIT(i))
			continue;
		if (best == SMCR_NO_SLOT || better(&f->slot[i], &f->slot[best]))
			best = i;
	}
	return best;
}

/*
 * Server: is only one link left, and has the client asked, over another link,
 * for its orderly deletion? The client ignores requests on the last link
 * (LLC-54) until it notices that all others are lost. Then the client keeps the
 * last link (FO-24), and sends a notice about a lost link over it: see
 * goes_on().
 */
bool lf_awaits_notice(const struct smcr_lgr_fsm *f)
{
	u8 slot = lf_usable(f, SMCR_NO_SLOT);
	u8 i;

	if (!f->server || slot == SMCR_NO_SLOT || !f->slot[slot].wanted ||
	    f->slot[slot].via == slot || !lf_can_stay(&f->slot[slot]))
		return false;
	/* a leaving link still works at the client */
	for (i = 0; i < SMCR_SLOTS; i++)
		if (i != slot && (f->slot[i].st == SMCR_SLOT_ACTIVE ||
				  f->slot[i].st == SMCR_SLOT_LEAVING))
			return false;
	return true;
}

/**
 * smcr_lgr_send_slot() - the link to send on
 * @f: link group
 *
 * Return: slot of the oldest active link that is not to be deleted. If there is
 * none, slot of an active link that is to be deleted, or SMCR_NO_SLOT.
 */
u8 smcr_lgr_send_slot(const struct smcr_lgr_fsm *f)
{
	return lf_usable(f, SMCR_NO_SLOT);
}

/**
 * smcr_lgr_slot_of() - link by its number
 * @f: link group
 * @num: link number
 *
 * Return: slot of a link with this number that is not GONE; else SMCR_NO_SLOT.
 */
u8 smcr_lgr_slot_of(const struct smcr_lgr_fsm *f, u8 num)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (num && f->slot[i].num == num &&
		    f->slot[i].st != SMCR_SLOT_FREE &&
		    f->slot[i].st != SMCR_SLOT_GONE)
			return i;
	return SMCR_NO_SLOT;
}

/*
 * Record the number of a deleted link: the peer may have sent a message that
 * names the link before it deleted the link, too
 */
void lf_gone(struct lf *x, u8 num)
{
	struct smcr_lgr_fsm *f = x->f;

	f->gone[f->gone_at] = num;
	f->gone_at = (f->gone_at + 1) % SMCR_SLOTS;
}

bool lf_is_gone(const struct smcr_lgr_fsm *f, u8 num)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (num && f->gone[i] == num)
			return true;
	return false;
}

/**
 * smcr_lgr_pairs() - the RNICs of the active links
 * @f: link group
 * @pairs: filled with the RNICs, those of the oldest link first
 * @slot: filled with the slots of these links; may be NULL
 */
void smcr_lgr_pairs(const struct smcr_lgr_fsm *f, struct smcr_pairs *pairs,
		    u8 slot[SMCR_SLOTS])
{
	u8 order[SMCR_SLOTS];
	u8 i, j, n = 0;

	for (i = 0; i < SMCR_SLOTS; i++) {
		if (f->slot[i].st != SMCR_SLOT_ACTIVE)
			continue;
		for (j = n++; j; j--) {
			if (f->slot[order[j - 1]].age < f->slot[i].age)
				break;
			order[j] = order[j - 1];
		}
		order[j] = i;
	}
	pairs->n = n;
	for (i = 0; i < n; i++) {
		pairs->pair[i].own = f->slot[order[i]].own;
		pairs->pair[i].peer = f->slot[order[i]].peer;
		if (slot)
			slot[i] = order[i];
	}
}

bool lf_redundant(const struct smcr_lgr_fsm *f)
{
	struct smcr_pairs pairs;

	smcr_lgr_pairs(f, &pairs, NULL);
	return smcr_roles_redundant(&pairs);
}

/*
 * Mark a link as failed, because of a message of the peer or a timeout. The
 * consequences follow after the event: follow_up() in lgr_fsm.c.
 */
void lf_fail(struct lf *x, u8 slot, enum smcr_reason why)
{
	lf_act(x, SMCR_LGR_DO_FAIL, slot)->why = why;
	x->failed |= BIT(slot);
	x->f->failed_pending |= BIT(slot);
	x->why[slot] = why;
}

/*
 * The link works, but the step that it carries is to end as if the link had
 * failed. follow_up() ends that step after the event.
 */
void lf_drop_begun(struct lf *x, u8 slot)
{
	x->in_vain |= BIT(slot);
}

/* Time within which the next message of the exchange is due (LLC-11) */
u8 lf_span(const struct smcr_lgr_fsm *f)
{
	return f->first ? SMCR_SPAN_FIRST : SMCR_SPAN_LLC;
}

/*
 * Enter a step that waits for the reply to an own message. In first contact the
 * peer's timer for that message runs already. So until the message is
 * delivered, T_STEP has half the time, in order to expire before the peer's
 * timer.
 */
void lf_step_sent(struct lf *x, u8 step)
{
	x->f->sending = x->f->first;
	lf_step(x, step, x->f->first ? SMCR_SPAN_FIRST_SEND : SMCR_SPAN_LLC);
}

u8 lf_report(const struct smcr_lgr_fsm *f)
{
	return f->first ? SMCR_LGR_EV_FIRST_SENT : SMCR_LGR_NO_REPORT;
}

/* The end of first contact */

/* First contact fails; the caller ends the group */
void lf_first_over(struct lf *x, enum smcr_first_res res, enum smcr_reason why)
{
	struct smcr_lgr_act *a;

	lf_step(x, SMCR_LGR_OVER, LF_NO_TIMER);
	a = lf_act(x, SMCR_LGR_DO_SETTLED, 0);
	a->res = res;
	a->why = why;
}

/*
 * The attempt to add a second link is over, with or without success: the group
 * may be used (LG-52). To be called before the last message of first contact is
 * sent: the peer may use the group as soon as that message arrives.
 */
void lf_settled(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (!f->first)
		return;
	f->first = false;
	f->sending = false;
	lf_act(x, SMCR_LGR_DO_SETTLED, 0)->res = SMCR_FIRST_OK;
}

/*
 * The link of first contact has failed. A Decline is possible if this side has
 * not sent a message on the link yet, or its latest one was not delivered: that
 * is a failure to send (CLC-57, CLC-63). Otherwise, and if the peer has
 * violated the protocol (SEC-10), the connection is reset.
 */
void lf_first_down(struct lf *x)
{
	enum smcr_reason why = x->ev->why, send_why;
	bool way_back;

	way_back = x->f->sending || x->f->step == SMCR_LGR_IDLE ||
		   x->f->step == SMCR_LGR_C_FIRST_CONFIRM ||
		   x->f->step == SMCR_LGR_S_FIRST_MAKE ||
		   x->f->step == SMCR_LGR_S_FIRST_UP ||
		   x->f->step == SMCR_LGR_C_FIRST_UP;
	if (why != SMCR_R_LINK_ERROR && why != SMCR_R_LINK_DEVICE &&
	    why != SMCR_R_LGR_SHUTDOWN)
		way_back = false;
	send_why = x->f->step == SMCR_LGR_S_ADD_REPLY ?
		   SMCR_R_ADD_LINK_FAIL : SMCR_R_CONFIRM_LINK_FAIL;
	/* only memory registrations were posted: one of these has failed */
	if (why == SMCR_R_LINK_ERROR &&
	    (x->f->step == SMCR_LGR_S_FIRST_UP ||
	     x->f->step == SMCR_LGR_C_FIRST_UP))
		send_why = SMCR_R_MR_FAIL;
	if (way_back)
		lf_first_over(x, SMCR_FIRST_DECLINE, send_why);
	else
		lf_first_over(x, SMCR_FIRST_RESET, why);
}

/*
 * No message of the peer has come in time: Decline if the latest own message
 * was not delivered, else reset
 */
void lf_first_silent(struct lf *x)
{
	if (x->f->sending)
		lf_first_over(x, SMCR_FIRST_DECLINE,
			      x->f->step == SMCR_LGR_S_ADD_REPLY ?
			      SMCR_R_ADD_LINK_FAIL : SMCR_R_CONFIRM_LINK_FAIL);
	else
		lf_first_over(x, SMCR_FIRST_RESET, SMCR_R_LLC_TIMEOUT);
}

/* The own message was delivered: start the timer of the reply */
void lf_first_sent(struct lf *x)
{
	x->f->sending = false;
	lf_arm(x, SMCR_LGR_T_STEP, SMCR_SPAN_FIRST);
	if (x->f->step == SMCR_LGR_S_ADD_REPLY)
		lf_act(x, SMCR_LGR_DO_NO_RETURN, 0);
}
