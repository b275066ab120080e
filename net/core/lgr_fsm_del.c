// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links that fail, DELETE LINK, and the end of the group: RFC 7609 2.3, 3.5.4,
 * 3.5.5.1.3, 3.5.5.1.4, C.7.1. See lgr_fsm.h.
 *
 * Only the server deletes links. A notice is the client's DELETE LINK, which
 * asks the server to delete a link. A notice is orderly or disorderly (O = 1 or
 * 0). The carrier is the link over which the server's DELETE LINK goes. The
 * subject is the link to be deleted. A link stays if its deletion is taken
 * back.
 */
#include "env.h"
#include "lgr_fsm_int.h"

/*
 * Maximum of .waits. Each message of another exchange restarts T_NOTICE of a
 * link, at most this number of times. It is larger than the number of links
 * that a group can have.
 */
enum { LF_NOTICE_WAITS = 32 };

/*
 * Client: the link in @via is lost, and replies to DELETE LINK that were sent
 * over it may be lost, too. Do not wait for their delivery: the server sends
 * DELETE LINK again (LLC-50).
 */
void lf_answers_lost(struct lf *x, u8 via)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		x->f->slot[i].asked_on &= ~BIT(via);
		if (x->f->slot[i].answering && x->f->slot[i].via == via)
			lf_stop(x, i);
	}
}

/*
 * Client: the link in @via is lost. Repeat, over another link, the notices that
 * were sent over it (LLC-51).
 */
static void notices_lost(struct lf *x, u8 via)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (i != via && x->f->slot[i].notice_sent &&
		    x->f->slot[i].via == via)
			lf_notice(x, i);
}

/* Start T_NOTICE of a link: see lf_notice() and lf_client_wait() */
static void notice_arm(struct lf *x, u8 slot)
{
	x->f->slot[slot].timed = true;
	lf_arm(x, SMCR_LGR_T_NOTICE + slot,
	       x->f->first ? SMCR_SPAN_FIRST : SMCR_SPAN_NOTICE);
}

void lf_notice_over(struct lf *x, u8 slot)
{
	struct smcr_fsm_link *s = &x->f->slot[slot];

	if (s->timed)
		lf_disarm(x, SMCR_LGR_T_NOTICE + slot);
	s->timed = false;
	s->notice_sent = false;
}

/* Delete a link; its slot becomes free when the queue pair is destroyed */
void lf_stop(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	lf_notice_over(x, slot);
	if (s->num) {
		lf_gone(x, s->num);
		if (f->server)
			smcr_link_num_put(&f->nums, s->num);
	}
	s->st = SMCR_SLOT_GONE;
	s->del = false;
	s->del_sent = false;
	s->answering = false;
	s->was = s->num;
	s->num = 0;
	f->rkey_lost = true;
	lf_rkey_link_down(x, slot);
	lf_act(x, SMCR_LGR_DO_STOP, slot);
	lf_answers_lost(x, slot);
	notices_lost(x, slot);
}

/* The reason code of DELETE LINK (LLC-48) */
u32 lf_del_reason(enum smcr_reason why)
{
	switch (why) {
	case SMCR_R_LLC_LENGTH:
	case SMCR_R_LLC_OPCODE:
	case SMCR_R_LLC_VALUE:
	case SMCR_R_LLC_UNEXPECTED:
	case SMCR_R_LLC_COUNT:
	case SMCR_R_LLC_RKEY:
	case SMCR_R_LLC_LINK_DATA:
	case SMCR_R_LLC_TEST_DATA:
	case SMCR_R_LLC_FLOOD:
		return SMCR_DEL_PROTOCOL;
	default:
		return SMCR_DEL_LOST_PATH;
	}
}

/* The last link is lost: the group is dead; no message is sent (CONN-32) */
void lf_last_link_lost(struct lf *x, enum smcr_reason why)
{
	x->f->ending = true;
	x->f->step = SMCR_LGR_OVER;
	lf_act(x, SMCR_LGR_DO_DEAD, SMCR_NO_SLOT)->why = why;
	lf_act(x, SMCR_LGR_DO_LOSE, SMCR_NO_SLOT);
	lf_act(x, SMCR_LGR_DO_RELEASE, SMCR_NO_SLOT);
}

static u8 n_failed(const struct smcr_lgr_fsm *f)
{
	u8 i, n = 0;

	for (i = 0; i < SMCR_SLOTS; i++)
		n += f->slot[i].st == SMCR_SLOT_FAILED;
	return n;
}

/* Take back the deletion of a link: the link is used again */
void lf_stays(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	if (f->server ? s->del && !s->wanted : s->notice_sent)
		s->later = s->del_reason != SMCR_DEL_ASYMMETRIC;
	lf_notice_over(x, slot);
	if (s->st == SMCR_SLOT_LEAVING) {
		s->st = SMCR_SLOT_ACTIVE;
		f->rkey_stale = true;
		lf_act(x, SMCR_LGR_DO_STAY, slot);
	}
	if (s->wanted)
		s->unnoticed = n_failed(f);
	s->del = false;
	s->del_orderly = false;
	s->wanted = false;
	s->del_sent = false;
	s->ignore_replies &= s->owed | s->sure;
	s->sure = s->ignore_replies;
	s->owed = 0;
	if (slot != f->subject)
		return;
	if (f->step == SMCR_LGR_S_DEL_REPLY) {
		lf_carrier(x)->ignore_replies |= BIT(SMCR_LLC_DELETE_LINK);
		lf_carrier(x)->sure |= BIT(SMCR_LLC_DELETE_LINK);
	}
	f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/*
 * All usable links are lost: take back the orderly deletion of a link that
 * still works (FO-24). The link in @not has failed and cannot stay. f->kept
 * holds the requests that a client has ignored on a link. If the link stays, the
 * client answers them. If f->kept was full, a request was dropped (.skipped).
 * Then the link cannot stay: the server would wait for a reply that never
 * comes. True: a link stays.
 */
bool lf_take_back(struct lf *x, u8 not)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++) {
		const struct smcr_fsm_link *s = &f->slot[i];

		if (i == not || f->failed_pending & BIT(i) || !lf_can_stay(s) ||
		    (s->st != SMCR_SLOT_LEAVING &&
		     (s->st != SMCR_SLOT_ACTIVE || !s->notice_sent)))
			continue;
		lf_stays(x, i);
		return true;
	}
	return false;
}

/*
 * Client: send a notice over another link, which asks the server to delete the
 * link in @slot (LLC-47). If the link in @slot has failed, the client goes on
 * at once without that link (LG-37). An orderly notice starts no timer: the
 * server may put the deletion off. So the server's silence does not prove that
 * the link that carried the notice has failed (I-53).
 */
void lf_notice(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];
	u8 via = lf_usable(f, slot);
	struct smcr_llc *m;

	if (via == SMCR_NO_SLOT)
		return;		/* no other link: the group ends */
	m = lf_send(x, via, SMCR_LLC_DELETE_LINK, false, SMCR_LGR_NO_REPORT, slot);
	m->delete_link.link_num = s->num;
	m->delete_link.orderly = s->del_orderly;
	m->delete_link.reason = s->del_reason ?: SMCR_DEL_LOST_PATH;
	s->notice_sent = true;
	s->via = via;
	s->waits = 0;
	if (!s->del_orderly)
		notice_arm(x, slot);
}

/*
 * Client: a message of another exchange has come. The server has one exchange
 * at a time (LLC-15), and each message of that exchange may take T_LLC. Until
 * the exchange is over the server does not answer notices. So its silence does
 * not prove that the link that carried a notice has failed: T_NOTICE starts
 * again.
 */
void lf_notices_wait(struct lf *x)
{
	u8 i;

	if (x->f->first || x->f->ending)
		return;
	for (i = 0; i < SMCR_SLOTS; i++) {
		struct smcr_fsm_link *s = &x->f->slot[i];

		if (!s->timed || s->waits == LF_NOTICE_WAITS)
			continue;
		s->waits++;
		notice_arm(x, i);
	}
}

/* Drop what was under way on a lost link: RKEY exchanges, replies, notices */
void lf_forget_link(struct lf *x, u8 slot)
{
	lf_rkey_link_down(x, slot);
	lf_answers_lost(x, slot);
	notices_lost(x, slot);
}

/* Is there a link other than @slot that is not to be deleted? */
static bool another_stays(const struct smcr_lgr_fsm *f, u8 slot)
{
	u8 i = lf_usable(f, slot);	/* prefers links without .del */

	return i != SMCR_NO_SLOT && !f->slot[i].del;
}

static void want_del(struct lf *x, u8 slot, bool orderly, u32 reason)
{
	struct smcr_fsm_link *s = &x->f->slot[slot];

	if (s->st != SMCR_SLOT_ACTIVE || s->del || s->notice_sent ||
	    !another_stays(x->f, slot))
		return;
	s->later = false;
	s->del_orderly = orderly;
	s->del_reason = reason;
	if (x->f->server)
		s->del = true;
	else
		lf_notice(x, slot);
}

/*
 * SMCR_LGR_EV_WANT_DEL: an operator has asked to delete a link, or its RNIC
 * will be removed
 */
void lf_want_del(struct lf *x)
{
	want_del(x, x->ev->slot, x->ev->orderly, x->ev->del_reason);
}

/* A link was added: now delete links that had to stay (.later; LG-34, LG-38) */
void lf_go_after_all(struct lf *x)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (x->f->slot[i].later)
			want_del(x, i, true, x->f->slot[i].del_reason);
}

/* Server */

static void del_send(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = lf_subject(x);
	struct smcr_llc *m;

	f->carrier = lf_usable(f, f->subject);
	if (f->carrier == SMCR_NO_SLOT) {
		lf_last_link_lost(x, SMCR_R_LINK_ERROR);
		return;
	}
	m = lf_send(x, f->carrier, SMCR_LLC_DELETE_LINK, false, SMCR_LGR_NO_REPORT,
		    f->subject);
	m->delete_link.link_num = s->num;
	m->delete_link.orderly = s->del_orderly;
	m->delete_link.reason = s->del_reason ?: SMCR_DEL_LOST_PATH;
	s->del_sent = true;
	lf_step(x, SMCR_LGR_S_DEL_REPLY, f->first ? SMCR_SPAN_FIRST :
						    SMCR_SPAN_LLC);
}

/*
 * The link in @slot is to be deleted, and is the last one. If the client has
 * not asked for the deletion, the link stays. If it has, the group ends, by
 * DELETE LINK for all: if the client's notice came over another link, the client
 * ignores all other requests on the last link (LLC-54).
 */
static void only_link_left(struct lf *x, u8 slot)
{
	struct smcr_fsm_link *s = &x->f->slot[slot];
	const struct smcr_llc_delete_link dl = {
		.all = s->via != slot,
		.link_num = s->via == slot ? s->num : 0,
		.orderly = s->del_orderly,
		.reason = s->del_reason,
	};

	s->del = false;
	if (s->wanted)
		lf_only_link(x, &dl);
}

/*
 * Server: only one link is left, and the client has asked for its deletion
 * (lf_awaits_notice()). When the client notices that all other links are lost,
 * it sends a notice about a lost link over the last link. That notice makes the
 * last link stay (goes_on()), so wait for it, until T_NOTICE expires. In the
 * slowest case, the client notices the loss when its own T_NOTICE (I-53)
 * expires. The client's T_NOTICE was started before the loss, and the server's
 * is started after the loss. If T_LLC is the same on both hosts, the client's
 * T_NOTICE expires first, and its notice comes in time. If the client's T_LLC
 * is larger, the group may end although the last link works.
 */
void lf_client_wait(struct lf *x)
{
	u8 slot = lf_usable(x->f, SMCR_NO_SLOT);

	if (!x->f->slot[slot].timed)
		notice_arm(x, slot);
}

/* Begin to delete a link; connections on it move before DELETE LINK (LG-34) */
void lf_del_begin(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	lf_notice_over(x, slot);
	f->subject = slot;
	if (s->st != SMCR_SLOT_ACTIVE) {
		del_send(x);
		return;
	}
	if (lf_usable(f, slot) == SMCR_NO_SLOT) {
		f->subject = SMCR_NO_SLOT;
		only_link_left(x, slot);
		return;
	}
	s->st = SMCR_SLOT_LEAVING;
	lf_act(x, SMCR_LGR_DO_MOVE, slot)->orderly = s->del_orderly;
	lf_step(x, SMCR_LGR_S_DEL_MOVE, LF_NO_TIMER);
}

/*
 * The client has replied over @on that it has deleted @gone. Earlier, a notice
 * about @on may have come over @gone. The client sent the notice before it
 * deleted @gone, so the notice is older than the reply. After a notice about
 * @on, the client ignores requests on @on (LLC-54), and does not reply there
 * until it takes the notice back. So the reply proves that the client has taken
 * the notice back, and @on stays.
 */
static void listens_again(struct lf *x, u8 on, u8 gone)
{
	if (x->f->slot[on].wanted && x->f->slot[on].via == gone)
		lf_stays(x, on);
}

/*
 * Server: a late reply to an abandoned DELETE LINK has come, so the client has
 * deleted the link. Meanwhile the server may have made this link ACTIVE again
 * (goes_on()), because the client had sent a notice about the other link over it.
 * The client sent this notice before it deleted the link. So the link has failed.
 */
void lf_deleted_late(struct lf *x)
{
	u8 slot = smcr_lgr_slot_of(x->f, x->ev->msg.delete_link.link_num);

	if (slot == SMCR_NO_SLOT)
		return;
	listens_again(x, x->ev->slot, slot);
	if (x->f->slot[slot].st == SMCR_SLOT_ACTIVE)
		lf_fail(x, slot, SMCR_R_LINK_DELETED);
}

/* The client has replied: the link is deleted on both sides (LG-35) */
static void srv_deleted(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	/* a reply has to name the link (I-20) */
	if (x->ev->slot != f->carrier ||
	    x->ev->msg.delete_link.link_num != lf_subject(x)->num) {
		if (f->first)
			lf_first_over(x, SMCR_FIRST_RESET,
				      SMCR_R_LLC_LINK_DATA);
		else
			lf_fail(x, x->ev->slot, SMCR_R_LLC_LINK_DATA);
		return;
	}
	/*
	 * DELETE LINK may have been sent over this carrier, then over another
	 * link, then over this carrier again. Then a second reply to it comes
	 * on this carrier, and is to be ignored.
	 */
	lf_carrier(x)->ignore_replies = (lf_carrier(x)->sure | lf_carrier(x)->owed) &
			      BIT(SMCR_LLC_DELETE_LINK);
	listens_again(x, f->carrier, f->subject);
	lf_carrier(x)->unnoticed = 0;
	lf_stop(x, f->subject);
	f->subject = SMCR_NO_SLOT;
	lf_settled(x);
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
	lf_retry(x);
}

/*
 * The client has not replied to DELETE LINK in time, so the carrier counts as
 * failed, too (LLC-50). There is an exception: if the client has asked to
 * delete the carrier, it ignores requests there (LLC-54) until it finds that
 * all other links are lost. Each time that T_NOTICE of the client expires, the
 * client finds one more lost link: the one that has carried its notice
 * (LLC-51). So start the timer once more for each lost link (.unnoticed). As in
 * lf_client_wait(), T_LLC is assumed to be the same on both hosts.
 */
static void srv_del_silent(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (lf_carrier(x)->unnoticed &&
	    lf_usable(f, f->carrier) == SMCR_NO_SLOT) {
		lf_carrier(x)->unnoticed--;
		lf_arm(x, SMCR_LGR_T_STEP, SMCR_SPAN_NOTICE);
		return;
	}
	if (f->first)
		lf_first_over(x, SMCR_FIRST_RESET, SMCR_R_LLC_TIMEOUT);
	else
		lf_fail(x, f->carrier, SMCR_R_LLC_TIMEOUT);
}

/* The carrier is lost: idle() sends DELETE LINK again, over another link */
static void srv_del_carrier_lost(struct lf *x)
{
	if (x->f->first) {
		lf_first_over(x, SMCR_FIRST_RESET, x->ev->why);
		return;
	}
	x->f->subject = SMCR_NO_SLOT;
	lf_step(x, SMCR_LGR_IDLE, LF_NO_TIMER);
}

/*
 * T_NOTICE of a link has expired. Client: no DELETE LINK has followed the
 * disorderly notice about the link, so the link that carried the notice (.via)
 * has failed (LLC-51). Server: the awaited notice has not come, see
 * lf_client_wait().
 */
void lf_notice_silent(struct lf *x, u8 slot)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[slot];

	if (f->server) {
		s->timed = false;
		if (lf_awaits_notice(f))
			only_link_left(x, slot);
		return;
	}
	if (!s->timed)
		return;
	if (f->first) {
		lf_first_over(x, SMCR_FIRST_RESET, SMCR_R_LLC_TIMEOUT);
		return;
	}
	lf_fail(x, s->via, SMCR_R_LLC_TIMEOUT);
}

void lf_answer_sent(struct lf *x, u8 slot)
{
	if (slot < SMCR_SLOTS && x->f->slot[slot].answering)
		lf_stop(x, slot);
}

/* The end of the group */

/* Slot of a usable link over which f->end was not sent yet */
static u8 end_link(const struct smcr_lgr_fsm *f)
{
	u8 i;

	for (i = 0; i < SMCR_SLOTS; i++)
		if (!(f->end_tried & BIT(i)) &&
		    (f->slot[i].st == SMCR_SLOT_ACTIVE ||
		     f->slot[i].st == SMCR_SLOT_LEAVING))
			return i;
	return SMCR_NO_SLOT;
}

static void end_over(struct lf *x)
{
	lf_step(x, SMCR_LGR_OVER, LF_NO_TIMER);
	lf_act(x, SMCR_LGR_DO_RELEASE, SMCR_NO_SLOT);
}

/* Send f->end over the next link; repeated until it is delivered (LLC-52) */
static void end_send(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	u8 slot = end_link(f);
	struct smcr_llc *m;

	if (slot == SMCR_NO_SLOT || (!f->end.reason && !f->end_reply)) {
		end_over(x);
		return;
	}
	f->end_tried |= BIT(slot);
	f->carrier = slot;
	m = lf_send(x, slot, SMCR_LLC_DELETE_LINK, f->end_reply, SMCR_LGR_EV_END_SENT,
		    slot);
	m->delete_link = f->end;
	f->step = SMCR_LGR_END_SENT;
	lf_arm(x, SMCR_LGR_T_END, SMCR_SPAN_LLC);
}

/* SMCR_LGR_EV_WANT_END: the group is dead; send the event's DELETE LINK */
void lf_end(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->ending)
		return;
	if (f->first && f->step != SMCR_LGR_OVER)
		lf_first_down(x);
	f->ending = true;
	f->end = x->ev->msg.delete_link;
	end_send(x);
}

static void end_asked(struct lf *x, enum smcr_reason why,
		      const struct smcr_llc_delete_link *dl)
{
	struct smcr_lgr_fsm *f = x->f;

	if (f->first && f->step != SMCR_LGR_OVER)
		lf_first_over(x, SMCR_FIRST_RESET, why);
	lf_act(x, SMCR_LGR_DO_DEAD, SMCR_NO_SLOT)->why = why;
	lf_act(x, SMCR_LGR_DO_LOSE, SMCR_NO_SLOT);
	f->ending = true;
	f->end = *dl;
	if (!f->end.reason)
		f->end.reason = SMCR_DEL_OPERATOR;
}

/*
 * The peer has asked to delete the only link, which ends the group. A server
 * answers with a request of its own (LLC-47), a client with a reply (LG-36).
 */
void lf_only_link(struct lf *x, const struct smcr_llc_delete_link *dl)
{
	end_asked(x, SMCR_R_LINK_DELETED, dl);
	x->f->end_reply = !x->f->server;
	end_send(x);
}

/*
 * DELETE LINK for all links has come from the peer. A server answers with a
 * request of its own (LG-41). A client ends the group without an answer (LG-40,
 * I-44).
 */
void lf_end_asked(struct lf *x)
{
	end_asked(x, SMCR_R_LGR_DELETED, &x->ev->msg.delete_link);
	if (x->f->server)
		end_send(x);
	else
		end_over(x);
}

/*
 * Does the peer answer f->end? A server gets a reply if f->end names a single
 * link (LG-35). A client gets the server's own DELETE LINK if f->end is orderly
 * (LG-41). If it is disorderly, the link is about to fail, so the client does
 * not wait (LG-37).
 */
static bool end_has_answer(const struct smcr_lgr_fsm *f)
{
	if (f->end_reply)
		return false;
	return f->server ? !f->end.all : f->end.orderly;
}

/* An event of a group that ends */
void lf_end_event(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	if (x->ev->type == SMCR_LGR_EV_STOPPED) {
		memset(&f->slot[x->ev->slot], 0, sizeof(f->slot[0]));
		return;
	}
	if (x->ev->type == SMCR_LGR_EV_LINK_DOWN)
		f->slot[x->ev->slot].st = SMCR_SLOT_FAILED;
	if (f->step == SMCR_LGR_OVER)
		return;
	switch (x->ev->type) {
	case SMCR_LGR_EV_END_SENT:
		if (end_has_answer(f))
			f->step = SMCR_LGR_END_ANSWER;
		else
			end_over(x);
		break;
	case SMCR_LGR_EV_MSG:
		if (x->ev->msg.type == SMCR_LLC_DELETE_LINK &&
		    x->ev->msg.reply == f->server)
			end_over(x);
		break;
	case SMCR_LGR_EV_LINK_DOWN:
		if (x->ev->slot == f->carrier)
			end_send(x);
		break;
	case SMCR_LGR_EV_TIMER:
		if (x->ev->timer == SMCR_LGR_T_END)
			end_send(x);
		break;
	}
}

const struct lf_row lf_del_rows[] = {
	/* 3.5.5.1.3: server */
	{ SMCR_LGR_S_DEL_MOVE, LF_EV(MOVED), del_send },
	{ SMCR_LGR_S_DEL_REPLY, LF_REPLY(DELETE_LINK), srv_deleted },
	{ SMCR_LGR_S_DEL_REPLY, LF_EV(TIMER), srv_del_silent },	/* LLC-50 */
	{ SMCR_LGR_S_DEL_REPLY, LF_CARRIER_DOWN, srv_del_carrier_lost },
};

const unsigned int lf_n_del_rows = ARRAY_SIZE(lf_del_rows);
