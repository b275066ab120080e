/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Invariants of one close machine from its creation on, for any sequence of
 * events. For the table test, the model of two peers and the fuzz target.
 */
#ifndef _SMCR_UNIT_CLOSE_LIFE_H
#define _SMCR_UNIT_CLOSE_LIFE_H

#include "shim/env.h"
#include "close.h"

#define CLOSE_SENDS	(SMCR_ACT_SEND_DONE | SMCR_ACT_SEND_CLOSED | \
			 SMCR_ACT_SEND_ABORT)
#define CLOSE_ENDS	(SMCR_ACT_TCP_FIN | SMCR_ACT_TCP_RST)
#define CLOSE_ALL_ACTS	((SMCR_ACT_DROP_TX << 1) - 1)

struct close_life {
	struct smcr_close c;
	bool tcp_ended;		/* FIN or RST ordered */
	bool failed;		/* error reported */
	bool timer;		/* a timer runs */
};

static inline void close_life_init(struct close_life *l)
{
	memset(l, 0, sizeof(*l));
	smcr_close_init(&l->c);
}

/* Do the flags fit the state? NULL, or what does not fit */
static inline const char *close_shape(const struct smcr_close *c)
{
	bool rx = c->rx_done || c->rx_closed;
	bool want = c->want_done || c->want_closed;
	bool ok;

	switch (c->st) {
	case SMCR_CONN_ST_CLOSED:
		ok = !want;
		break;
	case SMCR_CONN_ST_ACTIVE:
		ok = !rx && !c->tx_done && !c->tx_closed;
		break;
	case SMCR_CONN_ST_PEER_CLOSE_WAIT1:
		ok = !rx && (c->tx_done || c->tx_closed);
		break;
	case SMCR_CONN_ST_PEER_CLOSE_WAIT2:
		ok = c->rx_done && !c->rx_closed &&
		     (c->tx_done || c->tx_closed);
		break;
	case SMCR_CONN_ST_APP_FIN_CLOSE_WAIT:
		ok = c->rx_closed && c->tx_done && !c->tx_closed &&
		     c->app_closed == c->want_closed;
		break;
	case SMCR_CONN_ST_APP_CLOSE_WAIT1:
		ok = rx && !c->tx_done && !c->tx_closed;
		break;
	case SMCR_CONN_ST_APP_CLOSE_WAIT2:
		ok = rx && c->tx_done && !c->tx_closed;
		break;
	case SMCR_CONN_ST_PEER_FIN_CLOSE_WAIT:
		ok = c->rx_done && !c->rx_closed && c->tx_closed;
		break;
	case SMCR_CONN_ST_PEER_ABORT_WAIT:
		ok = c->tx_abort && !c->tx_closed && !want;
		break;
	case SMCR_CONN_ST_PROCESS_ABORT:
		ok = c->tx_abort && c->rx_abort && !c->tx_closed && !want;
		break;
	default:
		ok = false;
	}
	if (!ok)
		return "flags do not fit the state";
	if (c->st != SMCR_CONN_ST_CLOSED &&
	    c->st != SMCR_CONN_ST_PEER_ABORT_WAIT &&
	    c->st != SMCR_CONN_ST_PROCESS_ABORT &&
	    (c->tx_abort || c->rx_abort))
		return "aborted, but the state does not say so";
	if (c->tx_closed && (c->tx_abort || !c->app_closed))
		return "C with A, or without a close";
	if (c->want_done && (c->want_closed || c->tx_done || c->app_closed))
		return "pending D makes no sense";
	if (c->want_closed && (c->tx_closed || !c->app_closed))
		return "pending C makes no sense";
	return NULL;
}

static inline const char *close_check_sends(const struct smcr_close *old,
					    const struct smcr_close *c,
					    u32 acts)
{
	u32 sends = acts & CLOSE_SENDS;

	if (sends & (sends - 1))
		return "two of D, C, A at once";
	if (sends && !smcr_close_may_tx(old))
		return "sends although nothing may be sent";
	if (sends == SMCR_ACT_SEND_DONE && old->tx_done)
		return "second D";
	if (c->tx_done != (old->tx_done || sends == SMCR_ACT_SEND_DONE) ||
	    c->tx_closed != (old->tx_closed || sends == SMCR_ACT_SEND_CLOSED) ||
	    c->tx_abort != (old->tx_abort || sends == SMCR_ACT_SEND_ABORT))
		return "what was sent is not remembered";
	if ((c->tx_closed || c->tx_abort || c->rx_abort) &&
	    (smcr_close_may_tx(c) || smcr_close_may_send(c)))
		return "data path open after C or A";
	if ((c->tx_done || c->want_done || c->app_closed || c->rx_closed) &&
	    smcr_close_may_send(c))
		return "application may still send";
	return NULL;
}

static inline const char *close_check_timer(struct close_life *l,
					    enum smcr_conn_ev ev, u32 acts)
{
	const struct smcr_close *c = &l->c;
	bool due = c->st == SMCR_CONN_ST_PEER_ABORT_WAIT ||
		   (c->st != SMCR_CONN_ST_CLOSED &&
		    (c->tx_closed || c->want_closed));

	if (ev == SMCR_CONN_EV_TIMER)
		l->timer = false;
	if ((acts & SMCR_ACT_STOP_TIMER) && !l->timer)
		return "stops a timer that does not run";
	if (acts & SMCR_ACT_STOP_TIMER)
		l->timer = false;
	if ((acts & SMCR_ACT_CLOSE_TIMER) &&
	    !(c->app_closed && (c->tx_closed || c->want_closed)))
		return "T_CLOSE before the application closed";
	if ((acts & SMCR_ACT_ABORT_TIMER) &&
	    c->st != SMCR_CONN_ST_PEER_ABORT_WAIT &&
	    !(ev == SMCR_CONN_EV_TCP_RESET && c->tx_closed))
		return "T_ABORT without an abort";
	if (acts & (SMCR_ACT_CLOSE_TIMER | SMCR_ACT_ABORT_TIMER))
		l->timer = true;
	if (l->timer != due)
		return "timer runs without need, or is missing";
	return NULL;
}

static inline const char *close_check_end(struct close_life *l,
					  enum smcr_conn_ev ev, u32 acts)
{
	const struct smcr_close *c = &l->c;
	bool closed = c->st == SMCR_CONN_ST_CLOSED;
	bool conflict = ev == SMCR_CONN_EV_CONFLICT;
	u32 ends = acts & CLOSE_ENDS;

	if (!!(acts & SMCR_ACT_RELEASE) != closed)
		return "RELEASE belongs to entering Closed";
	if (ends == CLOSE_ENDS || (ends && l->tcp_ended))
		return "TCP ended twice";
	l->tcp_ended |= !!ends;
	if (closed && !l->tcp_ended)
		return "Closed, but TCP was not ended";
	if ((acts & SMCR_ACT_TCP_FIN) && !(c->tx_closed && c->rx_closed))
		return "FIN before both sides sent C";
	if (!!(acts & SMCR_ACT_NO_TX) != conflict)
		return "NO_TX belongs to a conflict";
	if ((acts & SMCR_ACT_NO_TX) && (acts & CLOSE_SENDS))
		return "CDC in a conflict";
	return NULL;
}

/* The element is reusable once both sides have sent C or A (RMB-22, CONN-25) */
static inline const char *close_check_both(const struct smcr_close *old,
					   const struct smcr_close *c,
					   enum smcr_conn_ev ev, u32 acts)
{
	bool own = old->tx_closed || old->tx_abort ||
		   acts & (SMCR_ACT_SEND_CLOSED | SMCR_ACT_SEND_ABORT);
	bool peer = old->rx_closed || old->rx_abort ||
		    ev == SMCR_CONN_EV_RX_CLOSED ||
		    ev == SMCR_CONN_EV_RX_ABORT;

	if (smcr_close_both_sent(c) != (own && peer))
		return "C or A of one side is forgotten, or made up";
	return NULL;
}

static inline const char *close_check_app(struct close_life *l,
					  const struct smcr_close *old,
					  enum smcr_conn_ev ev,
					  const struct smcr_close_out *out)
{
	bool error = out->actions & SMCR_ACT_ERROR;

	if (error != !!out->err)
		return "errno and ERROR differ";
	if (error && (l->failed || old->app_closed))
		return "error again, or for nobody";
	if (error && out->why == SMCR_R_NONE)
		return "error without a reason";
	if ((out->actions & SMCR_ACT_PURGE) && !old->app_closed && !error &&
	    ev != SMCR_CONN_EV_APP_CLOSE && ev != SMCR_CONN_EV_APP_ABORT)
		return "data dropped behind the application's back";
	if ((out->actions & SMCR_ACT_PURGE) && l->c.rx_closed &&
	    !l->c.app_closed && !l->c.rx_abort)
		return "data from before the peer's C dropped";
	if ((out->actions & SMCR_ACT_DROP_TX) &&
	    (!l->c.rx_closed || out->actions & SMCR_ACT_PURGE))
		return "DROP_TX belongs to an end after the peer's C";
	if (error && old->rx_closed && (ev == SMCR_CONN_EV_TCP_RESET ||
					ev == SMCR_CONN_EV_LGR_LOST ||
					ev == SMCR_CONN_EV_CONFLICT))
		return "error after an orderly end";
	l->failed |= error;
	if ((out->actions & SMCR_ACT_EOF) &&
	    ev != SMCR_CONN_EV_RX_DONE && ev != SMCR_CONN_EV_RX_CLOSED)
		return "end of data out of nothing";
	return NULL;
}

/*
 * smcr_close_step() and all checks of its result; NULL, or what does not hold
 */
static inline const char *close_life_step(struct close_life *l,
					  enum smcr_conn_ev ev,
					  const struct smcr_close_facts *facts,
					  enum smcr_reason why,
					  struct smcr_close_out *out)
{
	struct smcr_close old = l->c;
	const char *wrong;

	memset(out, 0xff, sizeof(*out));
	smcr_close_step(&l->c, ev, facts, why, out);

	if (!out->arc)
		return "no label";
	if (out->actions & ~CLOSE_ALL_ACTS)
		return "unknown action";
	if (out->why >= NR_SMCR_REASON)
		return "unknown reason";
	if (old.st == SMCR_CONN_ST_CLOSED) {
		if (out->actions !=
		    (ev == SMCR_CONN_EV_CONFLICT ? SMCR_ACT_NO_TX : 0) ||
		    out->err || out->why != SMCR_R_NONE)
			return "action after Closed";
		return memcmp(&old, &l->c, sizeof(old)) ?
		       "changed after Closed" : NULL;
	}
	if (l->c.rx_done != (old.rx_done || ev == SMCR_CONN_EV_RX_DONE) ||
	    l->c.rx_closed != (old.rx_closed || ev == SMCR_CONN_EV_RX_CLOSED) ||
	    l->c.rx_abort != (old.rx_abort || ev == SMCR_CONN_EV_RX_ABORT) ||
	    l->c.app_closed != (old.app_closed ||
				ev == SMCR_CONN_EV_APP_CLOSE ||
				ev == SMCR_CONN_EV_APP_ABORT) ||
	    l->c.tcp_rst != (old.tcp_rst || out->actions & SMCR_ACT_TCP_RST))
		return "an event is not remembered";
	wrong = close_shape(&l->c);
	if (!wrong)
		wrong = close_check_sends(&old, &l->c, out->actions);
	if (!wrong)
		wrong = close_check_timer(l, ev, out->actions);
	if (!wrong)
		wrong = close_check_end(l, ev, out->actions);
	if (!wrong)
		wrong = close_check_app(l, &old, ev, out);
	if (!wrong)
		wrong = close_check_both(&old, &l->c, ev,
					 out->actions);
	return wrong;
}

#endif /* _SMCR_UNIT_CLOSE_LIFE_H */
