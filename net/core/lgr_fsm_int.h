/* SPDX-License-Identifier: GPL-2.0-only */
/* Internals of the link group's state machine, for its files. See lgr_fsm.h. */
#ifndef _SMCR_CORE_LGR_FSM_INT_H
#define _SMCR_CORE_LGR_FSM_INT_H

#include "lgr_fsm.h"

/* An event while the machine processes it */
struct lf {
	struct smcr_lgr_fsm *f;
	const struct smcr_lgr_ev *ev;
	struct smcr_lgr_out *out;
	u16 failed;		/* bits of slots, marked by lf_fail() */
	u16 in_vain;		/* bits of slots, marked by lf_drop_begun() */
	enum smcr_reason why[SMCR_SLOTS];
};

/*
 * Codes of what a step can wait for: a request (LF_ASKS) or its reply; an event
 * that reports success (LF_EV) or failure; the failure of the carrier or of the
 * subject
 */
#define LF_ASKS(type_)		SMCR_LLC_##type_
#define LF_REPLY(type_)		(SMCR_LLC_##type_ | 0x80)
#define LF_EV(ev_)		(0x100 | SMCR_LGR_EV_##ev_)
#define LF_FAILED(ev_)		(0x200 | SMCR_LGR_EV_##ev_)
#define LF_CARRIER_DOWN		0x300
#define LF_SUBJECT_DOWN		0x301

#define LF_NO_TIMER		0xff	/* lf_step(): the step has no timer */

/* One row of the machine: the function for a step and a code (LF_*) */
struct lf_row {
	u8 step;
	u16 code;
	void (*fn)(struct lf *x);
};

/* What follows from a request that the step does not wait for */
enum lf_verdict {
	LF_DO,		/* the request is carried out now */
	LF_NOTE,	/* it is remembered, and carried out after the step */
	LF_DEFER,	/* the message is kept, and answered after the step */
	LF_REFUSE,	/* reply with Z and C: the peer may ask again later */
	LF_IGNORE,
	LF_GIVEN_UP,	/* server gave up its exchange: end the step, then DO */
	LF_FAIL,	/* unexpected: the link fails (LLC-08) */
};

/* lgr_fsm.c */
void lf_peer_has_nic(struct lf *x);
/* lgr_fsm_out.c */
struct smcr_lgr_act *lf_act(struct lf *x, u8 type, u8 slot);
struct smcr_llc *lf_send(struct lf *x, u8 slot, u8 type, bool reply,
			 u8 report, u8 about);
void lf_reply(struct lf *x, const struct smcr_llc *msg);
void lf_arm(struct lf *x, u8 timer, u8 span);
void lf_disarm(struct lf *x, u8 timer);
void lf_step(struct lf *x, u8 step, u8 span);
void lf_pass_msg(struct lf *x, u8 type, u8 slot);
void lf_retry(struct lf *x);
void lf_retry_done(struct lf *x);
u8 lf_free_slot(const struct smcr_lgr_fsm *f);
bool lf_redundant(const struct smcr_lgr_fsm *f);
u8 lf_usable(const struct smcr_lgr_fsm *f, u8 not);
bool lf_awaits_notice(const struct smcr_lgr_fsm *f);
void lf_gone(struct lf *x, u8 num);
bool lf_is_gone(const struct smcr_lgr_fsm *f, u8 num);
void lf_fail(struct lf *x, u8 slot, enum smcr_reason why);
void lf_drop_begun(struct lf *x, u8 slot);
u8 lf_span(const struct smcr_lgr_fsm *f);
u8 lf_report(const struct smcr_lgr_fsm *f);
void lf_step_sent(struct lf *x, u8 step);
void lf_first_over(struct lf *x, enum smcr_first_res res, enum smcr_reason why);
void lf_first_down(struct lf *x);
void lf_first_silent(struct lf *x);
void lf_first_sent(struct lf *x);
void lf_settled(struct lf *x);
/* lgr_fsm_first.c */
extern const struct lf_row lf_first_rows[];
extern const unsigned int lf_n_first_rows;
void lf_first(struct lf *x);
/* lgr_fsm_add.c */
extern const struct lf_row lf_add_rows[];
extern const unsigned int lf_n_add_rows;
void lf_add_asked(struct lf *x);
void lf_srv_offer(struct lf *x);
void lf_add_begin(struct lf *x);
void lf_offered(struct lf *x);
void lf_clt_tx_tokens(struct lf *x, u8 via, u8 slot);
void lf_add_dropped(struct lf *x);
void lf_add_undo(struct lf *x, u32 del_reason);
/* lgr_fsm_del.c */
extern const struct lf_row lf_del_rows[];
extern const unsigned int lf_n_del_rows;
u32 lf_del_reason(enum smcr_reason why);
void lf_last_link_lost(struct lf *x, enum smcr_reason why);
bool lf_take_back(struct lf *x, u8 not);
void lf_stays(struct lf *x, u8 slot);
void lf_forget_link(struct lf *x, u8 slot);
void lf_answers_lost(struct lf *x, u8 via);
void lf_stop(struct lf *x, u8 slot);
void lf_notice_over(struct lf *x, u8 slot);
void lf_notice(struct lf *x, u8 slot);
void lf_notices_wait(struct lf *x);
void lf_client_wait(struct lf *x);
void lf_deleted_late(struct lf *x);
void lf_del_begin(struct lf *x, u8 slot);
void lf_want_del(struct lf *x);
void lf_go_after_all(struct lf *x);
void lf_notice_silent(struct lf *x, u8 slot);
void lf_answer_sent(struct lf *x, u8 slot);
void lf_end(struct lf *x);
void lf_only_link(struct lf *x, const struct smcr_llc_delete_link *dl);
void lf_end_asked(struct lf *x);
void lf_end_event(struct lf *x);
/* lgr_fsm_asked.c */
extern const struct lf_row lf_asked_rows[];
extern const unsigned int lf_n_asked_rows;
void lf_del_asked(struct lf *x);
void lf_ignored(struct lf *x);
bool lf_kept_take(struct lf *x, struct smcr_lgr_ev *ev);
void lf_link_unknown(struct lf *x);
bool lf_given_up(struct lf *x);
/* lgr_fsm_rkey.c */
void lf_rkey_want(struct lf *x);
void lf_rkey_begin(struct lf *x);
void lf_rkey_ready(struct lf *x);
void lf_rkey_reply(struct lf *x);
void lf_rkey_silent(struct lf *x);
void lf_rkey_in_vain(struct lf *x, u8 slot);
void lf_rkey_link_down(struct lf *x, u8 slot);
void lf_peer_confirms(struct lf *x);
void lf_peer_continues(struct lf *x);
void lf_peer_refuse(struct lf *x);
void lf_peer_deletes(struct lf *x);
void lf_deferred_answer(struct lf *x);
/* lgr_fsm_verdict.c */
enum lf_verdict lf_verdict(const struct smcr_lgr_fsm *f, u8 type);

static inline bool lf_is_rkey(u8 type)
{
	return type == SMCR_LLC_CONFIRM_RKEY || type == SMCR_LLC_DELETE_RKEY ||
	       type == SMCR_LLC_CONFIRM_RKEY_CONT;
}

/*
 * May a link stay although its deletion has begun? It may if the deletion is
 * orderly, its reason is no lost path, and no request on the link was dropped.
 */
static inline bool lf_can_stay(const struct smcr_fsm_link *s)
{
	return s->del_orderly && s->del_reason != SMCR_DEL_LOST_PATH &&
	       !s->skipped;
}

static inline struct smcr_fsm_link *lf_carrier(struct lf *x)
{
	return &x->f->slot[x->f->carrier];
}

static inline struct smcr_fsm_link *lf_subject(struct lf *x)
{
	return &x->f->slot[x->f->subject];
}

#endif /* _SMCR_CORE_LGR_FSM_INT_H */
