// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the peer to delete one link: RFC 7609 3.5.5.1.3, 3.5.5.1.4. See
 * lgr_fsm.h.
 *
 * The client's request is called a notice here. A link stays if its deletion is
 * taken back. The subject is the link that is being deleted. The carrier is the
 * link over which the server's DELETE LINK goes.
 */
#include "env.h"
#include "lgr_fsm_int.h"

enum { LF_STAYS = 4 };	/* limit of .stays */

static void unknown_link(struct lf *x)
{
	struct smcr_llc *m;

	m = lf_send(x, x->ev->slot, SMCR_LLC_DELETE_LINK, true, SMCR_LGR_NO_REPORT,
		    0);
	m->delete_link.link_num = x->ev->msg.delete_link.link_num;
	m->delete_link.reason = SMCR_DEL_UNKNOWN_LINK;
}

/* Is a deleted link, which had this number, still being destroyed? (LLC-49) */
static bool is_cleaned(const struct smcr_lgr_fsm *f, u8 num)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (num && f->slot[i].st == SMCR_SLOT_GONE &&
		    f->slot[i].was == num)
			return true;
	return false;
}

/* Types, as bits, of replies that the step waits for on its carrier */
static u16 awaited(const struct smcr_lgr_fsm *f)
{
	switch (f->step) {
	case SMCR_LGR_S_ADD_REPLY:
		return BIT(SMCR_LLC_ADD_LINK);
	case SMCR_LGR_S_ADD_TOKENS:
		return BIT(SMCR_LLC_ADD_LINK_CONT);
	case SMCR_LGR_S_DEL_REPLY:
		return BIT(SMCR_LLC_DELETE_LINK);
	default:
		return 0;
	}
}

/*
 * The client's notice about the link in @slot has come. After it has sent this
 * notice, the client ignores requests on that link (LLC-54). So exchanges that
 * this side has begun on that link have failed, and begin again over another
 * link.
 */
static void begun_in_vain(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	if (f->rkey == SMCR_RKEY_SENT && f->rkey_via == slot) {
		s->owed |= BIT(f->rkey_type);
		s->ignore_replies |= BIT(SMCR_LLC_CONFIRM_RKEY) |
			   BIT(SMCR_LLC_CONFIRM_RKEY_CONT) |
			   BIT(SMCR_LLC_DELETE_RKEY);
	}
	/*
	 * The own RKEY exchange on this link fails. After a disorderly notice
	 * the link is lost, so the client's RKEY exchange is dropped, too.
	 * After an orderly one it is still answered until the link is deleted.
	 */
	if (x->ev->msg.delete_link.orderly)
		lf_rkey_in_vain(x, slot);
	else
		lf_rkey_link_down(x, slot);
	if (f->first || f->step == SMCR_LGR_IDLE || slot != f->carrier)
		return;
	s->owed |= awaited(f);
	s->ignore_replies |= BIT(SMCR_LLC_ADD_LINK) | BIT(SMCR_LLC_ADD_LINK_CONT) |
		   BIT(SMCR_LLC_DELETE_LINK);
	lf_drop_begun(x, slot);
}

/*
 * A notice about the link in @slot has come over another link, @on below. True
 * if @on is to be deleted but stays, because the client has lost all other
 * links. The notice does not prove that loss if there is a third link: the
 * client may have asked over the third link to delete @on, after it had sent
 * this notice. Until another link is added, a link stays LF_STAYS times at
 * most: the client might ask again and again to delete two links in turn.
 */
static bool goes_on(const struct lf *x, u8 slot)
{
	const struct smcr_fsm_link *on = &x->f->slot[x->ev->slot];
	u8 other = lf_usable(x->f, slot);

	if (slot == x->ev->slot || on->stays >= LF_STAYS ||
	    (other != SMCR_NO_SLOT && other != x->ev->slot))
		return false;
	if (on->st == SMCR_SLOT_LEAVING)
		return lf_can_stay(on);
	return on->wanted && !x->ev->msg.delete_link.orderly;
}

static void go_on(struct lf *x)
{
	x->f->slot[x->ev->slot].stays++;
	lf_stays(x, x->ev->slot);
}

/*
 * A client's notice (LLC-47). The link is deleted when no other exchange is
 * under way (LLC-75, LLC-80, LLC-86). If the notice is disorderly, the client
 * has lost the link already. Nothing is delivered on the link any more, so its
 * connections move at once.
 */
static void srv_del_noticed(struct lf *x, u8 slot)
{
	const struct smcr_llc_delete_link *dl = &x->ev->msg.delete_link;
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	if (goes_on(x, slot))
		go_on(x);
	if (s->del_sent)		/* DELETE LINK is under way already */
		return;
	if (!s->del) {
		s->del_orderly = dl->orderly;
		s->del_reason = dl->reason;
	}
	s->del = true;
	s->wanted = true;
	s->via = x->ev->slot;
	if (f->step == SMCR_LGR_S_ADD_CONFIRM && slot == f->subject &&
	    !dl->orderly) {
		lf_add_undo(x, s->del_reason ?: SMCR_DEL_LOST_PATH);
		return;
	}
	/* the only link is deleted when no exchange runs (LLC-75, LLC-86) */
	if ((s->st != SMCR_SLOT_ACTIVE && s->st != SMCR_SLOT_LEAVING) ||
	    lf_usable(f, slot) == SMCR_NO_SLOT)
		return;
	begun_in_vain(x, slot);
	if (!dl->orderly && !f->first)
		lf_fail(x, slot, SMCR_R_LINK_DELETED);
}

/* Client */

static void clt_del_reply(struct lf *x, u8 via, u8 slot, u8 report)
{
	const struct smcr_fsm_link *s = &x->f->slot[slot];
	struct smcr_llc *m;

	m = lf_send(x, via, SMCR_LLC_DELETE_LINK, true, report, slot);
	m->delete_link.link_num = s->num;
	m->delete_link.reason = s->del_reason;
}

/* Reply to DELETE LINK; the link stops when the reply is delivered (LG-36) */
static void clt_del_answer(struct lf *x, u8 via, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	lf_settled(x);
	clt_del_reply(x, via, slot, SMCR_LGR_EV_ANSWER_SENT);
	lf_gone(x, s->num);
	lf_notice_over(x, slot);
	lf_rkey_link_down(x, slot);
	f->rkey_lost = true;
	s->num = 0;
	s->st = SMCR_SLOT_GONE;
	s->del = false;
	lf_answers_lost(x, slot);
	s->answering = true;
	s->via = via;
	lf_retry(x);
}

static void clt_moved(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 slot = f->subject, i;

	/*
	 * Reply on every link over which DELETE LINK of the subject came. The
	 * server waits for the reply on the link of its newest request, and the
	 * order of arrival does not show which request is the newest.
	 */
	for (i = 0; i < SMCR_SLOTS; i++)
		if (i != f->carrier && f->slot[slot].asked_on & BIT(i))
			clt_del_reply(x, i, slot, SMCR_LGR_NO_REPORT);
	f->subject = SMCR_NO_SLOT;
	clt_del_answer(x, f->carrier, slot);
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/* The carrier is lost: end the step, as DELETE LINK comes again (LLC-50) */
static void clt_del_lost(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	u8 slot = f->subject;

	if (s->st == SMCR_SLOT_LEAVING) {
		s->st = SMCR_SLOT_FAILED;
		s->del_orderly = false;
		lf_act(x, SMCR_LGR_DO_FAIL, slot)->why = SMCR_R_LINK_DELETED;
	}
	f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	if (s->notice_sent && !s->timed)
		lf_notice(x, slot);
	/* the subject is FAILED by now: drop the exchanges on it */
	lf_forget_link(x, slot);
}

/*
 * The carrier is lost. If DELETE LINK came over another link, too, that link
 * becomes the carrier.
 */
static void clt_del_carrier_lost(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u16 others = lf_subject(x)->asked_on & ~BIT(f->carrier);
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		if (!(others & BIT(i)))
			continue;
		f->carrier = i;
		return;
	}
	clt_del_lost(x);
}

/*
 * The server has deleted the subject already: stop it. Its connections have
 * moved by then, as the caller carries out DO_MOVE before DO_STOP.
 */
static void del_given_up(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 slot = f->subject;

	f->subject = SMCR_NO_SLOT;
	lf_stop(x, slot);
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	lf_retry(x);
}

/*
 * Client: the server begins an exchange while a step here waits for a message
 * of another exchange. The server has one exchange at a time (LLC-15), so it
 * has given up the exchange of the step. One possible cause: the carrier has
 * failed at the server (LLC-33). The other: the server's timeout is shorter
 * than our T_LLC (Linux: 2 s), and the server has dropped the subject without a
 * message. No message of that exchange follows, so the step ends on this side,
 * too. No message about the subject is sent, as the server has no such link any
 * more.
 *
 * Return: false if the message does not prove that the exchange was given up.
 */
bool lf_given_up(struct lf *x)
{
	switch (x->f->step) {
	case SMCR_LGR_C_ADD_MAKE:
	case SMCR_LGR_C_ADD_TOKENS:
	case SMCR_LGR_C_ADD_CONFIRM:
	case SMCR_LGR_C_ADD_UP:
		lf_add_dropped(x);
		return true;
	case SMCR_LGR_C_DEL_MOVE:
		/* a message on the subject may be older than the deletion */
		if (x->ev->slot == x->f->subject)
			return false;
		del_given_up(x);
		return true;
	default:
		return false;
	}
}

static void clt_delete(struct lf *x, u8 slot)
{
	const struct smcr_llc_delete_link *dl = &x->ev->msg.delete_link;
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];
	struct smcr_lgr_act *act;

	s->del_reason = dl->reason;
	if (s->st != SMCR_SLOT_ACTIVE) {
		clt_del_answer(x, x->ev->slot, slot);
		return;
	}
	if (lf_usable(f, slot) == SMCR_NO_SLOT) {
		lf_only_link(x, &x->ev->msg.delete_link);
		return;
	}
	s->st = SMCR_SLOT_LEAVING;
	s->del_orderly = dl->orderly;
	s->asked_on = BIT(x->ev->slot);
	f->carrier = x->ev->slot;
	f->subject = slot;
	act = lf_act(x, SMCR_LGR_DO_MOVE, slot);
	act->orderly = dl->orderly;
	act->answers = f->carrier == slot;
	lf_step(x, SMCR_LGR_C_DEL_MOVE, LF_NO_TIMER);
}

/*
 * Client: the server asks to delete one link. If an exchange is under way, the
 * server has given it up. That exchange is ADD LINK (LLC-24, LLC-25, LLC-33),
 * or the deletion of a link whose carrier has failed at the server (LLC-50).
 */
static void clt_del_asked(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->step != SMCR_LGR_IDLE) {
		if (f->step == SMCR_LGR_C_DEL_MOVE &&
		    x->ev->slot == f->subject && slot != f->subject) {
			/* stale: older than DELETE LINK of the subject */
			if (x->ev->msg.delete_link.orderly ||
			    !lf_subject(x)->del_orderly)
				return;
			/* the server has lost all others: the subject stays */
			lf_stays(x, f->subject);
		} else if (f->step == SMCR_LGR_C_DEL_MOVE) {
			/* the same request, over another link */
			if (slot == f->subject) {
				f->carrier = x->ev->slot;
				lf_subject(x)->asked_on |= BIT(f->carrier);
				return;
			}
			if (x->ev->slot == f->carrier) {
				lf_fail(x, x->ev->slot, SMCR_R_LLC_UNEXPECTED);
				return;
			}
			clt_del_lost(x);
		} else if (f->first && slot != f->subject) {
			lf_only_link(x, &x->ev->msg.delete_link);
			return;
		} else if (slot != f->subject) {
			lf_add_dropped(x);
		}
		f->subject = SMCR_NO_SLOT;
		lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	}
	clt_delete(x, slot);
}

/* DELETE LINK of one link has come; lf_verdict() has returned LF_DO */
void lf_del_asked(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 num = x->ev->msg.delete_link.link_num;
	u8 slot = smcr_lgr_slot_of(f, num);

	if (slot == SMCR_NO_SLOT) {
		if (!f->server || !is_cleaned(f, num))
			unknown_link(x);
		return;
	}
	if (f->server)
		srv_del_noticed(x, slot);
	else
		clt_del_asked(x, slot);
}

/* The server has replied that it has no such link (LLC-49) */
void lf_link_unknown(struct lf *x)
{
	u8 slot = smcr_lgr_slot_of(x->f, x->ev->msg.delete_link.link_num);

	if (slot == SMCR_NO_SLOT || !x->f->slot[slot].notice_sent)
		return;
	if (slot == x->f->subject) {
		x->f->subject = SMCR_NO_SLOT;
		lf_settled(x);
		lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	} else if (x->f->slot[slot].st == SMCR_SLOT_ACTIVE) {
		lf_act(x, SMCR_LGR_DO_MOVE, slot);
	}
	lf_stop(x, slot);
	lf_retry(x);
}

/*
 * Client: a request came on a link after the notice about that link was sent.
 * The request is ignored (LLC-54), but kept. If the link stays because all
 * others are lost, the request is processed, as the server waits for the answer
 * (FO-24). A disorderly DELETE LINK of another link has an effect at once: the
 * server has lost that other link, and may not have received what was sent on
 * it.
 */
void lf_ignored(struct lf *x)
{
	const struct smcr_llc *m = &x->ev->msg;
	struct smcr_lgr_fsm *f = x->f;
	u8 slot;

	if (f->n_kept == SMCR_LGR_KEPT) {
		f->slot[x->ev->slot].skipped = true;
		return;
	}
	f->kept[f->n_kept++] = (struct smcr_lgr_kept){
		.slot = x->ev->slot,
		.facts = x->ev->facts,
		.msg = *m,
	};
	if (m->type != SMCR_LLC_DELETE_LINK || m->delete_link.orderly)
		return;
	slot = smcr_lgr_slot_of(f, m->delete_link.link_num);
	if (slot != SMCR_NO_SLOT && slot != x->ev->slot)
		lf_fail(x, slot, SMCR_R_LINK_DELETED);
}

/*
 * Take the oldest kept request whose link stays. Drop those of links that were
 * deleted or have failed. False: there is none to take.
 */
bool lf_kept_take(struct lf *x, struct smcr_lgr_ev *ev)
{
	struct smcr_lgr_fsm *f = x->f;
	const struct smcr_fsm_link *s;
	bool due;
	u8 i = 0;

	while (i < f->n_kept) {
		s = &f->slot[f->kept[i].slot];
		if (s->notice_sent && (s->st == SMCR_SLOT_ACTIVE ||
				       s->st == SMCR_SLOT_LEAVING)) {
			i++;
			continue;
		}
		due = s->st == SMCR_SLOT_ACTIVE;
		ev->type = SMCR_LGR_EV_MSG;
		ev->slot = f->kept[i].slot;
		ev->facts = f->kept[i].facts;
		ev->msg = f->kept[i].msg;
		f->n_kept--;
		memmove(&f->kept[i], &f->kept[i + 1],
			(f->n_kept - i) * sizeof(f->kept[0]));
		memset(&f->kept[f->n_kept], 0, sizeof(f->kept[0]));
		if (due)
			return true;
	}
	return false;
}

const struct lf_row lf_asked_rows[] = {
	/* 3.5.5.1.4: client */
	{ SMCR_LGR_C_DEL_MOVE, LF_EV(MOVED), clt_moved },
	{ SMCR_LGR_C_DEL_MOVE, LF_CARRIER_DOWN, clt_del_carrier_lost },
};

const unsigned int lf_n_asked_rows = ARRAY_SIZE(lf_asked_rows);
