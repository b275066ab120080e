// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/close.c: the connection state machine, RFC 7609 4.8. One
 * machine at a time; two peers are in model_close.c. The source is included to
 * get at the table.
 */
#include "ktap.h"
#include "byteio.h"
#include "close.c"
#include "close_life.h"

enum {
	N_FACTS = 8,
	N_GUARDS = G_WANT_CLOSED << 1,
	STORM_EVENTS = 2000000,
};

/* All states of a machine that events and facts can lead to */
static struct close_life seen[4096];
static unsigned int n_seen;

/* How often explore() has used each row */
static unsigned int row_used[ARRAY_SIZE(transitions)];

static bool facts_of(unsigned int i, struct smcr_close_facts *facts)
{
	facts->unread = i & 1;
	facts->unsent = i & 2;
	facts->undrained = i & 4;
	/* unsent bytes are undrained bytes */
	return facts->undrained || !facts->unsent;
}

static void remember(const struct close_life *l)
{
	unsigned int i;

	for (i = 0; i < n_seen; i++)
		if (!memcmp(&seen[i], l, sizeof(*l)))
			return;
	if (n_seen == ARRAY_SIZE(seen))
		abort();
	seen[n_seen++] = *l;
}

static void explore(void)
{
	struct smcr_close_facts facts;
	struct smcr_close_out out;
	struct close_life l;
	unsigned int i, ev, f;

	if (n_seen)
		return;
	close_life_init(&l);
	remember(&l);
	for (i = 0; i < n_seen; i++)
		for (ev = 0; ev < NR_SMCR_CONN_EV; ev++)
			for (f = 0; f < N_FACTS; f++) {
				l = seen[i];
				if (!facts_of(f, &facts))
					continue;
				row_used[find(l.c.st, ev, gather(&l.c, &facts)) -
					 transitions]++;
				if (!close_life_step(&l, ev, &facts,
						     SMCR_R_NONE, &out))
					remember(&l);
			}
}

/*
 * What Part D of the conformance catalogue expects, written state by state as
 * in the catalogue, not event by event as in the table under test.
 */
struct want {
	u8 to;
	u32 acts;
	int err;
	enum smcr_reason why;
	bool pend_done;		/* a D waits from now on */
	bool pend_closed;	/* a C waits from now on */
};

#define ACT(name)	SMCR_ACT_##name
#define STATE(name)	SMCR_CONN_ST_##name

static void w_to(struct want *w, u8 to, u32 acts)
{
	w->to = to;
	w->acts |= acts;
}

static void w_error(struct want *w, int err, enum smcr_reason why)
{
	w->err = err;
	w->why = why;
}

/* own A, and @rst: TCP reset */
static void w_abort(struct want *w, u8 to, bool rst)
{
	w_to(w, to, ACT(PURGE) | ACT(SEND_ABORT) | (rst ? ACT(TCP_RST) : 0));
	if (to == STATE(PEER_ABORT_WAIT))
		w->acts |= ACT(ABORT_TIMER);
}

/* "A + RST -> PeerAbortWait", or Closed if the peer is done (I-28) */
static void w_active_abort(struct want *w, const struct smcr_close *c,
			   bool rst)
{
	w_abort(w, c->rx_closed ? STATE(CLOSED) : STATE(PEER_ABORT_WAIT), rst);
}

/* What the peer wrote before its C stays: only unsent data are dropped */
static void w_keep_rx(struct want *w, const struct smcr_close *c)
{
	if (c->rx_closed) {
		w->acts &= ~ACT(PURGE);
		w->acts |= ACT(DROP_TX);
	}
}

/* The columns on the right: abnormal ends before own C */
static bool w_abnormal_open(struct want *w, const struct smcr_close *c,
			    enum smcr_conn_ev ev)
{
	switch (ev) {
	case SMCR_CONN_EV_APP_ABORT:
		w_active_abort(w, c, true);
		w->why = SMCR_R_LOCAL_ABORT;
		return true;
	case SMCR_CONN_EV_VIOLATION:
		w_active_abort(w, c, true);
		w_keep_rx(w, c);
		w_error(w, ECONNABORTED, SMCR_R_CDC_CURSOR);
		return true;
	case SMCR_CONN_EV_TCP_RESET:
		w_active_abort(w, c, false);
		w_keep_rx(w, c);
		w_error(w, c->rx_closed ? 0 : ECONNRESET, SMCR_R_TCP_RESET);
		return true;
	case SMCR_CONN_EV_RX_ABORT:
		w_abort(w, c->st == STATE(APP_FIN_CLOSE_WAIT) ?
			STATE(CLOSED) : STATE(PROCESS_ABORT), false);
		w_error(w, ECONNRESET, SMCR_R_PEER_ABORT);
		return true;
	case SMCR_CONN_EV_TIMER:	/* the peer does not consume data */
		if (c->want_closed) {
			w_active_abort(w, c, true);
			w->why = SMCR_R_CLOSE_TIMEOUT;
		}
		return true;
	default:
		return false;
	}
}

/* the same after own C: no A any more */
static bool w_abnormal_closed(struct want *w, enum smcr_conn_ev ev)
{
	switch (ev) {
	case SMCR_CONN_EV_APP_ABORT:
		w->acts |= ACT(TCP_RST);
		w->why = SMCR_R_LOCAL_ABORT;
		return true;
	case SMCR_CONN_EV_VIOLATION:
		w->acts |= ACT(TCP_RST);
		w->why = SMCR_R_CDC_CURSOR;
		return true;
	case SMCR_CONN_EV_TCP_RESET:
		w->acts |= ACT(ABORT_TIMER);
		w->why = SMCR_R_TCP_RESET;
		return true;
	case SMCR_CONN_EV_RX_ABORT:
		w_to(w, STATE(CLOSED), ACT(PURGE));
		w->why = SMCR_R_PEER_ABORT;
		return true;
	case SMCR_CONN_EV_TIMER:
		w_to(w, STATE(CLOSED), 0);
		w->why = SMCR_R_CLOSE_TIMEOUT;
		return true;
	default:
		return false;
	}
}

/* Any state but Closed */
static bool w_lost(struct want *w, const struct smcr_close *c,
		   enum smcr_conn_ev ev, bool aborting)
{
	if (ev != SMCR_CONN_EV_LGR_LOST && ev != SMCR_CONN_EV_CONFLICT)
		return false;
	w_to(w, STATE(CLOSED), aborting ? 0 : ACT(PURGE));
	if (!aborting) {
		w_keep_rx(w, c);
		w->err = c->rx_closed ? 0 : ECONNRESET;
	}
	w->why = SMCR_R_NO_LINK;
	if (ev == SMCR_CONN_EV_CONFLICT) {
		w->acts |= ACT(NO_TX);
		w->why = SMCR_R_RMBE_CONFLICT;
	}
	return true;
}

/* C now, and state @to, or after the drain */
static void w_close(struct want *w, const struct smcr_close_facts *facts,
		    u8 to)
{
	if (facts->undrained) {
		w->pend_closed = true;
		w->acts |= ACT(CLOSE_TIMER);
		return;
	}
	w_to(w, to, ACT(SEND_CLOSED));
	if (to != STATE(CLOSED))
		w->acts |= ACT(CLOSE_TIMER);
}

static void w_shut(struct want *w, const struct smcr_close_facts *facts,
		   u8 to)
{
	if (facts->undrained)
		w->pend_done = true;
	else
		w_to(w, to, ACT(SEND_DONE));
}

static void w_reset_unread(struct want *w)
{
	w_abort(w, STATE(PEER_ABORT_WAIT), true);
	w->why = SMCR_R_LOCAL_UNREAD;
}

static void w_reset_undeliverable(struct want *w)
{
	w_abort(w, STATE(CLOSED), true);
	w->why = SMCR_R_PEER_CLOSED_UNREAD;
}

static void d_active(struct want *w, const struct smcr_close *c,
		     enum smcr_conn_ev ev, const struct smcr_close_facts *facts)
{
	if (w_abnormal_open(w, c, ev))
		return;
	if (ev == SMCR_CONN_EV_APP_SHUT_WR && !c->app_closed) {
		w_shut(w, facts, STATE(PEER_CLOSE_WAIT1));
	} else if (ev == SMCR_CONN_EV_APP_CLOSE && !c->app_closed) {
		if (facts->unread)
			w_reset_unread(w);
		else
			w_close(w, facts, STATE(PEER_CLOSE_WAIT1));
	} else if (ev == SMCR_CONN_EV_DRAINED && !facts->undrained) {
		if (c->want_closed)
			w_close(w, facts, STATE(PEER_CLOSE_WAIT1));
		else if (c->want_done)
			w_shut(w, facts, STATE(PEER_CLOSE_WAIT1));
	} else if (ev == SMCR_CONN_EV_RX_DONE) {
		w_to(w, STATE(APP_CLOSE_WAIT1), ACT(EOF));
	} else if (ev == SMCR_CONN_EV_RX_CLOSED) {
		if (facts->unsent) {
			w_reset_undeliverable(w);
			w->acts &= ~ACT(PURGE);	/* unread data stay */
			w->acts |= ACT(DROP_TX);
			w->err = ECONNRESET;
		} else {
			w_to(w, STATE(APP_CLOSE_WAIT1), ACT(EOF));
		}
	}
}

static void d_peer_close_wait(struct want *w, const struct smcr_close *c,
			      enum smcr_conn_ev ev,
			      const struct smcr_close_facts *facts)
{
	if (c->tx_closed ? w_abnormal_closed(w, ev) :
			   w_abnormal_open(w, c, ev))
		return;
	if (ev == SMCR_CONN_EV_APP_CLOSE && !c->app_closed) {
		if (facts->unread)
			w_reset_unread(w);
		else
			w_close(w, facts, c->st);
	} else if (ev == SMCR_CONN_EV_DRAINED && !facts->undrained) {
		if (c->want_closed)
			w_close(w, facts, c->st);
	} else if (ev == SMCR_CONN_EV_RX_DONE) {
		if (c->st == STATE(PEER_CLOSE_WAIT1))
			w_to(w, STATE(PEER_CLOSE_WAIT2), ACT(EOF));
	} else if (ev == SMCR_CONN_EV_RX_CLOSED) {
		/* appClosed, but C still to be sent: AppFinCloseWait sends it */
		w_to(w, c->tx_closed ? STATE(CLOSED) :
				       STATE(APP_FIN_CLOSE_WAIT), ACT(EOF));
	}
}

static void d_app_fin_close_wait(struct want *w, const struct smcr_close *c,
				 enum smcr_conn_ev ev,
				 const struct smcr_close_facts *facts)
{
	if (w_abnormal_open(w, c, ev))
		return;
	if (ev == SMCR_CONN_EV_APP_CLOSE && !c->app_closed) {
		if (facts->unsent) {
			w_reset_undeliverable(w);
			return;
		}
		if (facts->unread)
			w->acts |= ACT(PURGE);
		w_close(w, facts, STATE(CLOSED));
	} else if (ev == SMCR_CONN_EV_DRAINED && !facts->undrained) {
		if (c->want_closed)
			w_close(w, facts, STATE(CLOSED));
	}
}

static void d_app_close_wait(struct want *w, const struct smcr_close *c,
			     enum smcr_conn_ev ev,
			     const struct smcr_close_facts *facts)
{
	u8 closed = c->rx_closed ? STATE(CLOSED) : STATE(PEER_FIN_CLOSE_WAIT);
	bool first = c->st == STATE(APP_CLOSE_WAIT1);

	if (w_abnormal_open(w, c, ev))
		return;
	if (ev == SMCR_CONN_EV_APP_SHUT_WR && !c->app_closed) {
		if (first)
			w_shut(w, facts, STATE(APP_CLOSE_WAIT2));
	} else if (ev == SMCR_CONN_EV_APP_CLOSE && !c->app_closed) {
		if (c->rx_closed && facts->unsent) {
			w_reset_undeliverable(w);
			return;
		}
		if (facts->unread && !c->rx_closed) {
			w_reset_unread(w);
			return;
		}
		if (facts->unread)
			w->acts |= ACT(PURGE);
		w_close(w, facts, closed);
	} else if (ev == SMCR_CONN_EV_DRAINED && !facts->undrained) {
		if (c->want_closed)
			w_close(w, facts, closed);
		else if (c->want_done && first)
			w_shut(w, facts, STATE(APP_CLOSE_WAIT2));
	} else if (ev == SMCR_CONN_EV_RX_CLOSED) {
		if (facts->unsent && first) {
			w_reset_undeliverable(w);
			w->acts &= ~ACT(PURGE);	/* unread data stay */
			w->acts |= ACT(DROP_TX);
			w->err = ECONNRESET;
		} else {
			w->acts |= ACT(EOF);
		}
	}
}

static void d_peer_fin_close_wait(struct want *w, enum smcr_conn_ev ev)
{
	if (!w_abnormal_closed(w, ev) && ev == SMCR_CONN_EV_RX_CLOSED)
		w_to(w, STATE(CLOSED), ACT(EOF));
}

static void d_peer_abort_wait(struct want *w, enum smcr_conn_ev ev)
{
	if (ev == SMCR_CONN_EV_RX_CLOSED || ev == SMCR_CONN_EV_RX_ABORT)
		w_to(w, STATE(CLOSED), 0);
	if (ev == SMCR_CONN_EV_TIMER) {
		w_to(w, STATE(CLOSED), 0);
		w->why = SMCR_R_ABORT_TIMEOUT;
	}
}

static struct want part_d(const struct smcr_close *c, enum smcr_conn_ev ev,
			  const struct smcr_close_facts *facts)
{
	bool aborting = c->st == STATE(PEER_ABORT_WAIT) ||
			c->st == STATE(PROCESS_ABORT);
	struct want w = {
		.to = c->st,
		.pend_done = c->want_done,
		.pend_closed = c->want_closed,
	};

	if (c->st == STATE(CLOSED)) {
		/* RMB-24: no message may reach the element's new owner */
		if (ev == SMCR_CONN_EV_CONFLICT)
			w.acts = ACT(NO_TX);
		return w;
	}
	if (!w_lost(&w, c, ev, aborting)) {
		switch (c->st) {
		case STATE(ACTIVE):
			d_active(&w, c, ev, facts);
			break;
		case STATE(PEER_CLOSE_WAIT1):
		case STATE(PEER_CLOSE_WAIT2):
			d_peer_close_wait(&w, c, ev, facts);
			break;
		case STATE(APP_FIN_CLOSE_WAIT):
			d_app_fin_close_wait(&w, c, ev, facts);
			break;
		case STATE(APP_CLOSE_WAIT1):
		case STATE(APP_CLOSE_WAIT2):
			d_app_close_wait(&w, c, ev, facts);
			break;
		case STATE(PEER_FIN_CLOSE_WAIT):
			d_peer_fin_close_wait(&w, ev);
			break;
		case STATE(PEER_ABORT_WAIT):
			d_peer_abort_wait(&w, ev);
			break;
		case STATE(PROCESS_ABORT):
			if (ev == SMCR_CONN_EV_TX_ABORT_DONE)
				w_to(&w, STATE(CLOSED), 0);
			break;
		}
	}

	/* "On entering Closed: release element and token, then close TCP" */
	if (w.to == STATE(CLOSED)) {
		bool orderly = (c->tx_closed || w.acts & ACT(SEND_CLOSED)) &&
			       (c->rx_closed ||
				ev == SMCR_CONN_EV_RX_CLOSED) &&
			       w.why == SMCR_R_NONE;

		w.acts |= ACT(RELEASE) | (orderly ? ACT(TCP_FIN) : ACT(TCP_RST));
		if ((c->tx_closed || c->want_closed ||
		     c->st == STATE(PEER_ABORT_WAIT)) &&
		    ev != SMCR_CONN_EV_TIMER)
			w.acts |= ACT(STOP_TIMER);
	}
	/* the peer's A ends the wait for it to consume data */
	if (c->want_closed && w.to == STATE(PROCESS_ABORT))
		w.acts |= ACT(STOP_TIMER);
	if (c->tcp_rst)
		w.acts &= ~(ACT(TCP_RST) | ACT(TCP_FIN));
	if (c->app_closed)
		w.err = 0;
	if (w.err)
		w.acts |= ACT(ERROR);
	if (w.pend_closed || w.acts & (ACT(SEND_DONE) | ACT(SEND_CLOSED) |
				       ACT(SEND_ABORT) | ACT(RELEASE)))
		w.pend_done = false;
	if (w.acts & (ACT(SEND_CLOSED) | ACT(SEND_ABORT) | ACT(RELEASE)))
		w.pend_closed = false;
	return w;
}

static void check_cell(const struct close_life *from, enum smcr_conn_ev ev,
		       const struct smcr_close_facts *facts)
{
	struct want w = part_d(&from->c, ev, facts);
	struct close_life l = *from;
	struct smcr_close_out out;
	const char *wrong;

	wrong = close_life_step(&l, ev, facts, SMCR_R_NONE, &out);
	KTAP_CHECK(!wrong && l.c.st == w.to && out.actions == w.acts &&
		   out.err == w.err && out.why == w.why &&
		   l.c.want_done == w.pend_done &&
		   l.c.want_closed == w.pend_closed, 0,
		   "%s + %s (D%d C%d rD%d rC%d app%d wD%d wC%d; unread%d unsent%d undrained%d): %s 0x%x %d %s pending %d%d, not %s 0x%x %d %s %d%d; %s",
		   smcr_conn_st_name(from->c.st), smcr_conn_ev_name(ev),
		   from->c.tx_done, from->c.tx_closed, from->c.rx_done,
		   from->c.rx_closed, from->c.app_closed, from->c.want_done,
		   from->c.want_closed, facts->unread, facts->unsent,
		   facts->undrained, smcr_conn_st_name(l.c.st), out.actions,
		   out.err, smcr_reason_name(out.why), l.c.want_done,
		   l.c.want_closed, smcr_conn_st_name(w.to), w.acts, w.err,
		   smcr_reason_name(w.why), w.pend_done, w.pend_closed,
		   wrong ? wrong : "");
}

TEST(transitions__total)
{
	unsigned int st, ev, holds, r;
	static bool first[ARRAY_SIZE(transitions)];

	/* each state and event has a row, and the last one has no condition */
	for (st = 0; st < NR_SMCR_CONN_ST; st++)
		for (ev = 0; ev < NR_SMCR_CONN_EV; ev++) {
			const struct smcr_close_row *last = NULL;

			for (r = 0; r < ARRAY_SIZE(transitions); r++)
				if (transitions[r].from & 1U << st &&
				    transitions[r].events & 1U << ev)
					last = &transitions[r];
			KTAP_CHECK(last && !last->guard, 0, "%s + %s: no row",
				   smcr_conn_st_name(st),
				   smcr_conn_ev_name(ev));
			for (holds = 0; holds < N_GUARDS; holds++)
				first[find(st, ev, holds) - transitions] = true;
		}

	for (r = 0; r < ARRAY_SIZE(transitions); r++) {
		KTAP_CHECK(first[r], 0, "row %u (%s) is never the first", r,
			   transitions[r].arc);
		EXPECT_FALSE(transitions[r].from >> NR_SMCR_CONN_ST);
		EXPECT_FALSE(transitions[r].events >> NR_SMCR_CONN_EV);
		EXPECT_LE(transitions[r].to, NR_SMCR_CONN_ST);
	}
	printf("# %zu rows for %u cells\n", ARRAY_SIZE(transitions),
	       NR_SMCR_CONN_ST * NR_SMCR_CONN_EV);
}

TEST(transitions__arcs)
{
	/* Figures 22 and 23; arc 2 is smcr_close_init() */
	static const char * const arcs[] = {
		"F22 3A", "F22 3B", "F22 3C", "F22 3D",
		"F22 4A", "F22 4B", "F22 4C", "F22 4D",
		"F23 1A", "F23 1B", "F23 2A", "F23 2B",
	};
	struct smcr_close c;
	unsigned int a, r;

	for (a = 0; a < ARRAY_SIZE(arcs); a++) {
		for (r = 0; r < ARRAY_SIZE(transitions); r++)
			if (!strcmp(transitions[r].arc, arcs[a]))
				break;
		KTAP_CHECK(r < ARRAY_SIZE(transitions), 0, "no row for %s",
			   arcs[a]);
	}
	for (r = 0; r < ARRAY_SIZE(transitions); r++) {
		const struct smcr_close_row *row = &transitions[r];
		bool ignored = !strcmp(row->arc, "ignored");
		bool idle = row->to == NR_SMCR_CONN_ST && !row->actions &&
			    !row->err && row->why == SMCR_R_NONE;

		/* the other empty rows: a close or shutdown goes on waiting */
		KTAP_CHECK(idle == (ignored || (!strcmp(row->arc, "CONN-06") &&
						!(row->actions & ACT_INTERNAL))),
			   0, "row %u (%s)", r, row->arc);
	}

	/* all members are set, whatever was there */
	memset(&c, 0xff, sizeof(c));
	smcr_close_init(&c);
	EXPECT_EQ(c.st, SMCR_CONN_ST_ACTIVE);
	c.st = 0;
	EXPECT_TRUE(smcr_bytes_zero((u8 *)&c, sizeof(c)));
	memset(&c, 0, sizeof(c));
	EXPECT_EQ(c.st, SMCR_CONN_ST_CLOSED);
}

TEST(transitions__all_used)
{
	bool reached[NR_SMCR_CONN_ST] = { false };
	unsigned int i, r, used = 0;

	explore();
	for (i = 0; i < n_seen; i++)
		reached[seen[i].c.st] = true;
	for (i = 0; i < NR_SMCR_CONN_ST; i++)
		KTAP_CHECK(reached[i], 0, "%s is not reached",
			   smcr_conn_st_name(i));
	for (r = 0; r < ARRAY_SIZE(transitions); r++) {
		used += !!row_used[r];
		KTAP_CHECK(row_used[r], 0, "row %u (%s) is not used", r,
			   transitions[r].arc);
	}
	printf("# %u of %zu rows used, %u machines\n", used,
	       ARRAY_SIZE(transitions), n_seen);
}

TEST(smcr_close_step__part_d)
{
	struct smcr_close_facts facts;
	unsigned int i, ev, f, n = 0;

	covers("CONN-01 CONN-03 CONN-05 CONN-07 CONN-08 CONN-09 CONN-10 CONN-11 CONN-12");
	covers("CONN-13 CONN-14 CONN-15 CONN-16 CONN-18 CONN-20 CONN-21 CONN-22 CONN-23");
	covers("CONN-24 CONN-25 CONN-26 CONN-27 CONN-28 CONN-30 CONN-31 CONN-32 RMB-22");
	covers("RMB-24");
	explore();
	for (i = 0; i < n_seen; i++)
		for (ev = 0; ev < NR_SMCR_CONN_EV; ev++)
			for (f = 0; f < N_FACTS; f++)
				if (facts_of(f, &facts)) {
					check_cell(&seen[i], ev, &facts);
					n++;
				}
	printf("# %u machines, %u cells\n", n_seen, n);
}

TEST(smcr_close_step__reason)
{
	static const struct smcr_close_facts none, unread = { .unread = true };
	struct smcr_close_out out;
	struct smcr_close c;

	/* the caller's reason for an abnormal step, never for an orderly one */
	smcr_close_init(&c);
	smcr_close_step(&c, SMCR_CONN_EV_RX_DONE, &none, SMCR_R_TCP_DATA, &out);
	EXPECT_EQ(out.why, SMCR_R_NONE);
	smcr_close_step(&c, SMCR_CONN_EV_VIOLATION, &none, SMCR_R_TCP_DATA,
			&out);
	EXPECT_EQ(out.why, SMCR_R_TCP_DATA);
	EXPECT_EQ(out.err, ECONNABORTED);
	EXPECT_STR(out.arc, "F23 1A");

	smcr_close_init(&c);
	smcr_close_step(&c, SMCR_CONN_EV_APP_CLOSE, &unread, SMCR_R_NONE, &out);
	EXPECT_EQ(out.why, SMCR_R_LOCAL_UNREAD);
	smcr_close_step(&c, SMCR_CONN_EV_RX_ABORT, &none, SMCR_R_PEER_ABORT,
			&out);
	EXPECT_EQ(out.why, SMCR_R_NONE);
	EXPECT_EQ(out.actions, SMCR_ACT_RELEASE | SMCR_ACT_STOP_TIMER);
}

/* A pending write is no reason to reset */
TEST(smcr_close_step__peer_closed_data_in_flight)
{
	struct smcr_close_facts facts = { .undrained = true };
	struct smcr_close_out out;
	struct smcr_close c;

	smcr_close_init(&c);
	smcr_close_step(&c, SMCR_CONN_EV_RX_CLOSED, &facts, SMCR_R_NONE, &out);
	EXPECT_EQ(c.st, SMCR_CONN_ST_APP_CLOSE_WAIT1);
	EXPECT_EQ(out.actions, SMCR_ACT_EOF);

	facts.unsent = true;
	smcr_close_init(&c);
	smcr_close_step(&c, SMCR_CONN_EV_RX_CLOSED, &facts, SMCR_R_NONE, &out);
	EXPECT_EQ(c.st, SMCR_CONN_ST_CLOSED);
	EXPECT_EQ(out.err, ECONNRESET);
}

/* Random events in random order, for one connection after the other */
TEST(smcr_close_step__storm)
{
	struct smcr_close_facts facts;
	struct smcr_close_out out;
	struct close_life l;
	unsigned int i, lives = 0, after = 0;
	const char *wrong;

	close_life_init(&l);
	for (i = 0; i < STORM_EVENTS; i++) {
		enum smcr_conn_ev ev = rnd(NR_SMCR_CONN_EV);

		while (!facts_of(rnd(N_FACTS), &facts))
			;
		wrong = close_life_step(&l, ev, &facts, rnd(NR_SMCR_REASON),
					&out);
		KTAP_CHECK(!wrong, 1, "event %u, %s: %s", i,
			   smcr_conn_ev_name(ev), wrong);
		if (l.c.st != SMCR_CONN_ST_CLOSED || after++ < 3)
			continue;
		close_life_init(&l);
		after = 0;
		lives++;
	}
	printf("# %u events, %u connections\n", i, lives);
}

TEST(smcr_close_may__all)
{
	unsigned int i;

	explore();
	for (i = 0; i < n_seen; i++) {
		const struct smcr_close *c = &seen[i].c;
		bool over = c->st == SMCR_CONN_ST_CLOSED || c->tx_abort ||
			    c->rx_abort;

		EXPECT_EQ(smcr_close_may_tx(c), !over && !c->tx_closed);
		EXPECT_EQ(smcr_close_may_rx(c), !over && !c->rx_closed);
		EXPECT_EQ(smcr_close_may_send(c),
			  !over && !c->tx_done && !c->tx_closed &&
			  !c->want_done && !c->app_closed && !c->rx_closed);
	}
}

TEST(smcr_conn_names__all)
{
	static const char * const states[] = {
		"Closed", "Active", "PeerCloseWait1", "PeerCloseWait2",
		"AppFinCloseWait", "AppCloseWait1", "AppCloseWait2",
		"PeerFinCloseWait", "PeerAbortWait", "ProcessAbort",
	};
	unsigned int i, k;

	covers("CONN-01");
	ASSERT_EQ(NR_SMCR_CONN_ST, ARRAY_SIZE(states));
	for (i = 0; i < NR_SMCR_CONN_ST; i++)
		EXPECT_STR(smcr_conn_st_name(i), states[i]);
	for (i = 0; i < NR_SMCR_CONN_EV; i++) {
		ASSERT_TRUE(smcr_conn_ev_name(i));
		for (k = 0; k < i; k++)
			EXPECT_TRUE(strcmp(smcr_conn_ev_name(i),
					   smcr_conn_ev_name(k)));
	}
	EXPECT_STR(smcr_conn_st_name(NR_SMCR_CONN_ST), "unknown");
	EXPECT_STR(smcr_conn_ev_name(NR_SMCR_CONN_EV), "unknown");
}
