// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact: the steps up to CONFIRM LINK of the first link, RFC 7609
 * 3.5.1.5, C.2, C.3, C.7.1. See lgr_fsm.h.
 */
#include "env.h"
#include "lgr_fsm_int.h"

/* MAKE or UP has failed: Decline with the reason of the event */
static void first_fails(struct lf *x)
{
	lf_first_over(x, SMCR_FIRST_DECLINE, x->ev->why);
}

static void first_active(struct lf *x)
{
	x->f->slot[0].st = SMCR_SLOT_ACTIVE;
	x->f->slot[0].age = x->f->ages++;
	lf_act(x, SMCR_LGR_DO_LIVE, 0);
}

/*
 * SMCR_LGR_EV_FIRST has come. The server makes the queue pair of the second
 * link before it sends any LLC message. So if there is no queue pair, a Decline
 * is still possible (CLC-57).
 */
void lf_first(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;
	struct smcr_fsm_link *s = &f->slot[0];

	s->st = SMCR_SLOT_ADDING;
	s->own = x->ev->nic;
	s->peer = x->ev->peer_nic;
	f->carrier = 0;
	if (!f->server) {
		lf_step(x, SMCR_LGR_C_FIRST_CONFIRM, SMCR_SPAN_FIRST);
		return;
	}
	s->num = smcr_link_num_get(&f->nums);
	f->subject = 1;
	f->slot[1].st = SMCR_SLOT_MAKING;
	lf_act(x, SMCR_LGR_DO_MAKE, 1);
	lf_step(x, SMCR_LGR_S_FIRST_MAKE, LF_NO_TIMER);
}

static void srv_first_made(struct lf *x)
{
	x->f->tokens_left = x->ev->n;
	lf_act(x, SMCR_LGR_DO_UP, 0);
	lf_step(x, SMCR_LGR_S_FIRST_UP, LF_NO_TIMER);
}

/*
 * The RNIC of the second link is lost before the offer. If the queue pair of
 * the link was still being made, first contact fails. Otherwise the server
 * offers another RNIC when the first link is confirmed.
 */
static void srv_first_lost(struct lf *x)
{
	lf_stop(x, x->f->subject);
	x->f->subject = SMCR_NO_SLOT;
	if (x->f->step == SMCR_LGR_S_FIRST_MAKE)
		lf_first_over(x, SMCR_FIRST_DECLINE, SMCR_R_QP_FAIL);
}

static void srv_first_up(struct lf *x)
{
	lf_send(x, 0, SMCR_LLC_CONFIRM_LINK, false, SMCR_LGR_EV_FIRST_SENT,
		0)->confirm_link.link_num = x->f->slot[0].num;
	lf_step_sent(x, SMCR_LGR_S_FIRST_CONFIRM);
}

/* The client's reply to CONFIRM LINK of the first link (LLC-22, LG-18) */
static void srv_first_confirmed(struct lf *x)
{
	struct smcr_lgr_fsm *f = x->f;

	f->sending = false;
	if (x->ev->facts.link_data ||
	    x->ev->msg.confirm_link.link_num != f->slot[0].num) {
		lf_first_over(x, SMCR_FIRST_RESET, SMCR_R_LLC_LINK_DATA);
		return;
	}
	lf_pass_msg(x, SMCR_LGR_DO_AGREED, 0);
	first_active(x);
	if (f->subject == SMCR_NO_SLOT)
		lf_add_begin(x);
	else
		lf_srv_offer(x);
}

/* The server's CONFIRM LINK of the first link (LLC-20, LLC-21) */
static void clt_first_asked(struct lf *x)
{
	const struct smcr_llc_confirm_link *cl = &x->ev->msg.confirm_link;

	if (x->ev->facts.link_data || !cl->link_num) {
		lf_first_over(x, SMCR_FIRST_DECLINE, SMCR_R_BAD_LINK_DATA);
		return;
	}
	x->f->slot[0].num = cl->link_num;
	lf_pass_msg(x, SMCR_LGR_DO_AGREED, 0);
	lf_act(x, SMCR_LGR_DO_UP, 0);
	lf_step(x, SMCR_LGR_C_FIRST_UP, LF_NO_TIMER);
}

static void clt_first_up(struct lf *x)
{
	first_active(x);
	lf_send(x, 0, SMCR_LLC_CONFIRM_LINK, true, SMCR_LGR_EV_FIRST_SENT,
		0)->confirm_link.link_num = x->f->slot[0].num;
	lf_step_sent(x, SMCR_LGR_C_FIRST_ADD);
}

const struct lf_row lf_first_rows[] = {
	/* 3.5.1.5: first contact, server */
	{ SMCR_LGR_S_FIRST_MAKE, LF_EV(MADE), srv_first_made },
	{ SMCR_LGR_S_FIRST_MAKE, LF_FAILED(MADE), first_fails },
	{ SMCR_LGR_S_FIRST_MAKE, LF_CARRIER_DOWN, lf_first_down },
	{ SMCR_LGR_S_FIRST_MAKE, LF_SUBJECT_DOWN, srv_first_lost },
	{ SMCR_LGR_S_FIRST_UP, LF_EV(UP), srv_first_up },
	{ SMCR_LGR_S_FIRST_UP, LF_FAILED(UP), first_fails },
	{ SMCR_LGR_S_FIRST_UP, LF_CARRIER_DOWN, lf_first_down },
	{ SMCR_LGR_S_FIRST_UP, LF_SUBJECT_DOWN, srv_first_lost },
	{ SMCR_LGR_S_FIRST_CONFIRM, LF_EV(FIRST_SENT), lf_first_sent },
	{ SMCR_LGR_S_FIRST_CONFIRM, LF_REPLY(CONFIRM_LINK), srv_first_confirmed },
	{ SMCR_LGR_S_FIRST_CONFIRM, LF_EV(TIMER), lf_first_silent },	/* LLC-23 */
	{ SMCR_LGR_S_FIRST_CONFIRM, LF_CARRIER_DOWN, lf_first_down },
	{ SMCR_LGR_S_FIRST_CONFIRM, LF_SUBJECT_DOWN, srv_first_lost },

	/* 3.5.1.5: first contact, client */
	{ SMCR_LGR_C_FIRST_CONFIRM, LF_ASKS(CONFIRM_LINK), clt_first_asked },
	{ SMCR_LGR_C_FIRST_CONFIRM, LF_EV(TIMER), lf_first_silent },	/* LLC-26 */
	{ SMCR_LGR_C_FIRST_CONFIRM, LF_CARRIER_DOWN, lf_first_down },
	{ SMCR_LGR_C_FIRST_UP, LF_EV(UP), clt_first_up },
	{ SMCR_LGR_C_FIRST_UP, LF_FAILED(UP), first_fails },
	{ SMCR_LGR_C_FIRST_UP, LF_CARRIER_DOWN, lf_first_down },
	{ SMCR_LGR_C_FIRST_ADD, LF_EV(FIRST_SENT), lf_first_sent },
	{ SMCR_LGR_C_FIRST_ADD, LF_ASKS(ADD_LINK), lf_offered },
	{ SMCR_LGR_C_FIRST_ADD, LF_EV(TIMER), lf_first_silent },	/* LLC-34 */
	{ SMCR_LGR_C_FIRST_ADD, LF_CARRIER_DOWN, lf_first_down },
};

const unsigned int lf_n_first_rows = ARRAY_SIZE(lf_first_rows);
