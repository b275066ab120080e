// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection state machine, RFC 7609 4.8. See close.h.
 *
 * transitions[] is the whole machine: the first row that matches applies. A row
 * has the actions of a transition, and the error. smcr_close_step() leaves out
 * what has no effect: an error after the application closed, and FIN or RST
 * after a reset of the TCP connection. It adds ERROR and STOP_TIMER. D, C and A
 * are the flags of CDC: sending done, connection closed, abnormal close. Rows
 * that apply after own C have no error, because C is sent only after the
 * application has closed.
 *
 * Labels: "F22 3A" is arc 3A of Figure 22, "F23 1A" is arc 1A of Figure 23.
 * Where the RFC has no arrow, the label is the item of the conformance
 * catalogue. Arc 2 of Figure 22 is smcr_close_init(), box 1 of that figure is
 * the state CLOSED.
 */
#include "close.h"
#include "env.h"

/* Conditions of a row: facts, and members of struct smcr_close */
enum {
	G_UNREAD	= 1 << 0,
	G_UNSENT	= 1 << 1,
	G_UNDRAINED	= 1 << 2,
	G_TX_CLOSED	= 1 << 3,
	G_RX_CLOSED	= 1 << 4,
	G_APP_CLOSED	= 1 << 5,
	G_WANT_DONE	= 1 << 6,
	G_WANT_CLOSED	= 1 << 7,
};

/* Actions that are not returned: they set want_done and want_closed */
enum {
	ACT_WANT_DONE	= 1 << 30,
	ACT_WANT_CLOSED	= 1 << 29,
	ACT_INTERNAL	= ACT_WANT_DONE | ACT_WANT_CLOSED,
};

/* @to of a row that does not change the state */
#define SMCR_CONN_ST_STAY	NR_SMCR_CONN_ST

/**
 * struct smcr_close_row - one transition
 * @from: set of states, bit numbers are enum smcr_conn_st
 * @events: set of events, bit numbers are enum smcr_conn_ev
 * @guard: G_*, all of them must hold
 * @to: enum smcr_conn_st, or SMCR_CONN_ST_STAY
 * @err: errno for an application that has not closed; 0 none
 * @why: reason, if the caller passes none; SMCR_R_NONE for an orderly step
 * @actions: ACT_*, and SMCR_ACT_* other than ERROR and STOP_TIMER
 * @arc: RFC arc, or catalogue item
 */
struct smcr_close_row {
	u16 from;
	u16 events;
	u16 guard;
	u8 to;
	u16 err;
	enum smcr_reason why;
	u32 actions;
	const char *arc;
};

#define ST(st_)		(1u << SMCR_CONN_ST_##st_)
#define EV(ev_)		(1u << SMCR_CONN_EV_##ev_)
#define DO(act_)	SMCR_ACT_##act_

#define ROW(from_, ev_, guard_, to_, actions_, err_, why_, arc_)	\
	{								\
		.from = from_,						\
		.events = EV(ev_),					\
		.guard = guard_,					\
		.to = SMCR_CONN_ST_##to_,				\
		.err = err_,						\
		.why = SMCR_R_##why_,					\
		.actions = actions_,					\
		.arc = arc_,						\
	}

#define IGNORE(from_, events_)						\
	{								\
		.from = from_,						\
		.events = events_,					\
		.to = SMCR_CONN_ST_STAY,				\
		.arc = "ignored",					\
	}

#define PEER_CLOSE_WAITS (ST(PEER_CLOSE_WAIT1) | ST(PEER_CLOSE_WAIT2))
#define APP_CLOSE_WAITS	(ST(APP_CLOSE_WAIT1) | ST(APP_CLOSE_WAIT2))
/* own C may have been sent. If it was sent, the peer's C or A is due */
#define PEER_WAITS	(PEER_CLOSE_WAITS | ST(PEER_FIN_CLOSE_WAIT))
/* A was neither sent nor received */
#define OPEN	(ST(ACTIVE) | PEER_WAITS | APP_CLOSE_WAITS |		\
		 ST(APP_FIN_CLOSE_WAIT))
#define ABORTING (ST(PEER_ABORT_WAIT) | ST(PROCESS_ABORT))
#define EV_ALL	((1u << NR_SMCR_CONN_EV) - 1)

#define SEND_C		(DO(SEND_CLOSED) | DO(CLOSE_TIMER))
/* C follows the drain; the timer limits how long the peer takes for the data */
#define WANT_C		(ACT_WANT_CLOSED | DO(CLOSE_TIMER))
#define SEND_A		(DO(PURGE) | DO(SEND_ABORT))
#define END_FIN		(DO(RELEASE) | DO(TCP_FIN))
#define END_RST		(DO(RELEASE) | DO(TCP_RST))
/* the peer's A, or its C (I-28), is still to come */
#define ABORT_WAIT	(SEND_A | DO(TCP_RST) | DO(ABORT_TIMER))
/* the peer's A or C has arrived already */
#define ABORT_END	(SEND_A | END_RST)
/* as ABORT_END, but what the peer wrote before its C stays readable */
#define READER_END	(DO(DROP_TX) | DO(SEND_ABORT) | END_RST)

static const struct smcr_close_row transitions[] = {
	IGNORE(ST(CLOSED), EV_ALL & ~EV(CONFLICT)),
	/*
	 * The peer has given the element of this connection to another
	 * connection. So a failover must not repeat writes into this element.
	 */
	ROW(ST(CLOSED), CONFLICT, 0,
	    STAY, DO(NO_TX), 0, NONE, "RMB-24"),

	/* shutdown(WR) */
	ROW(ST(ACTIVE) | ST(APP_CLOSE_WAIT1), APP_SHUT_WR, G_APP_CLOSED,
	    STAY, 0, 0, NONE, "CONN-06"),
	ROW(ST(ACTIVE) | ST(APP_CLOSE_WAIT1), APP_SHUT_WR, G_UNDRAINED,
	    STAY, ACT_WANT_DONE, 0, NONE, "CONN-06"),
	ROW(ST(ACTIVE), APP_SHUT_WR, 0,
	    PEER_CLOSE_WAIT1, DO(SEND_DONE), 0, NONE, "F22 3A"),
	ROW(ST(APP_CLOSE_WAIT1), APP_SHUT_WR, 0,
	    APP_CLOSE_WAIT2, DO(SEND_DONE), 0, NONE, "F22 4B"),
	IGNORE(PEER_WAITS | ST(APP_FIN_CLOSE_WAIT) | ST(APP_CLOSE_WAIT2) |
	       ABORTING, EV(APP_SHUT_WR)),

	/* close() and shutdown(RDWR) */
	ROW(OPEN, APP_CLOSE, G_APP_CLOSED,
	    STAY, 0, 0, NONE, "CONN-06"),
	/*
	 * The application queued data while the peer's C was processed. The
	 * peer will not read them, so the connection is reset, as for data that
	 * are unsent when C arrives (CONN-14).
	 */
	ROW(OPEN, APP_CLOSE, G_RX_CLOSED | G_UNSENT,
	    CLOSED, ABORT_END, 0, PEER_CLOSED_UNREAD, "CONN-14"),
	ROW(OPEN, APP_CLOSE, G_RX_CLOSED | G_UNREAD | G_UNDRAINED,
	    STAY, DO(PURGE) | WANT_C, 0, NONE, "I-26"),
	ROW(OPEN, APP_CLOSE, G_RX_CLOSED | G_UNREAD,
	    CLOSED, DO(PURGE) | DO(SEND_CLOSED) | END_FIN, 0, NONE, "I-26"),
	ROW(OPEN, APP_CLOSE, G_UNREAD,
	    PEER_ABORT_WAIT, ABORT_WAIT, 0, LOCAL_UNREAD, "F23 1A"),
	ROW(OPEN, APP_CLOSE, G_UNDRAINED,
	    STAY, WANT_C, 0, NONE, "CONN-06"),
	ROW(ST(ACTIVE), APP_CLOSE, 0,
	    PEER_CLOSE_WAIT1, SEND_C, 0, NONE, "F22 3A"),
	ROW(PEER_CLOSE_WAITS, APP_CLOSE, 0,
	    STAY, SEND_C, 0, NONE, "I-25"),
	ROW(ST(APP_FIN_CLOSE_WAIT), APP_CLOSE, 0,
	    CLOSED, DO(SEND_CLOSED) | END_FIN, 0, NONE, "F22 3D"),
	ROW(APP_CLOSE_WAITS, APP_CLOSE, G_RX_CLOSED,
	    CLOSED, DO(SEND_CLOSED) | END_FIN, 0, NONE, "F22 4C"),
	ROW(APP_CLOSE_WAITS, APP_CLOSE, 0,
	    PEER_FIN_CLOSE_WAIT, SEND_C, 0, NONE, "F22 4C"),
	IGNORE(ST(PEER_FIN_CLOSE_WAIT) | ABORTING, EV(APP_CLOSE)),

	/* the drain for which a close or shutdown waits */
	ROW(OPEN, DRAINED, G_UNDRAINED,
	    STAY, 0, 0, NONE, "CONN-06"),
	ROW(ST(ACTIVE), DRAINED, G_WANT_CLOSED,
	    PEER_CLOSE_WAIT1, SEND_C, 0, NONE, "F22 3A"),
	ROW(ST(ACTIVE), DRAINED, G_WANT_DONE,
	    PEER_CLOSE_WAIT1, DO(SEND_DONE), 0, NONE, "F22 3A"),
	ROW(PEER_CLOSE_WAITS, DRAINED, G_WANT_CLOSED,
	    STAY, SEND_C, 0, NONE, "I-25"),
	ROW(ST(APP_FIN_CLOSE_WAIT), DRAINED, G_WANT_CLOSED,
	    CLOSED, DO(SEND_CLOSED) | END_FIN, 0, NONE, "F22 3D"),
	ROW(APP_CLOSE_WAITS, DRAINED, G_WANT_CLOSED | G_RX_CLOSED,
	    CLOSED, DO(SEND_CLOSED) | END_FIN, 0, NONE, "F22 4C"),
	ROW(APP_CLOSE_WAITS, DRAINED, G_WANT_CLOSED,
	    PEER_FIN_CLOSE_WAIT, SEND_C, 0, NONE, "F22 4C"),
	ROW(ST(APP_CLOSE_WAIT1), DRAINED, G_WANT_DONE,
	    APP_CLOSE_WAIT2, DO(SEND_DONE), 0, NONE, "F22 4B"),
	IGNORE(OPEN | ABORTING, EV(DRAINED)),

	/* D from the peer */
	ROW(ST(ACTIVE), RX_DONE, 0,
	    APP_CLOSE_WAIT1, DO(EOF), 0, NONE, "F22 4A"),
	ROW(ST(PEER_CLOSE_WAIT1), RX_DONE, 0,
	    PEER_CLOSE_WAIT2, DO(EOF), 0, NONE, "F22 3B"),
	IGNORE(ST(PEER_CLOSE_WAIT2) | ST(PEER_FIN_CLOSE_WAIT) |
	       ST(APP_FIN_CLOSE_WAIT) | APP_CLOSE_WAITS | ABORTING,
	       EV(RX_DONE)),

	/* C from the peer; EOF also wakes senders that wait (CONN-19) */
	ROW(ST(ACTIVE) | ST(APP_CLOSE_WAIT1), RX_CLOSED, G_UNSENT,
	    CLOSED, READER_END, ECONNRESET, PEER_CLOSED_UNREAD, "CONN-14"),
	ROW(ST(ACTIVE), RX_CLOSED, 0,
	    APP_CLOSE_WAIT1, DO(EOF), 0, NONE, "F22 4A"),
	ROW(PEER_CLOSE_WAITS, RX_CLOSED, G_TX_CLOSED,
	    CLOSED, DO(EOF) | END_FIN, 0, NONE, "F22 3C"),
	ROW(PEER_CLOSE_WAITS, RX_CLOSED, 0,
	    APP_FIN_CLOSE_WAIT, DO(EOF), 0, NONE, "F22 3C"),
	ROW(APP_CLOSE_WAITS, RX_CLOSED, 0,
	    STAY, DO(EOF), 0, NONE, "F22 4A"),
	ROW(ST(PEER_FIN_CLOSE_WAIT), RX_CLOSED, 0,
	    CLOSED, DO(EOF) | END_FIN, 0, NONE, "F22 4D"),
	ROW(ST(PEER_ABORT_WAIT), RX_CLOSED, 0,
	    CLOSED, END_RST, 0, NONE, "I-28"),
	IGNORE(ST(APP_FIN_CLOSE_WAIT) | ST(PROCESS_ABORT), EV(RX_CLOSED)),

	/* A from the peer; after own C no A is sent (CONN-30) */
	ROW(PEER_WAITS, RX_ABORT, G_TX_CLOSED,
	    CLOSED, DO(PURGE) | END_RST, 0, PEER_ABORT, "I-28"),
	ROW(ST(APP_FIN_CLOSE_WAIT), RX_ABORT, 0,
	    CLOSED, ABORT_END, ECONNRESET, PEER_ABORT, "I-28"),
	ROW(OPEN, RX_ABORT, 0,
	    PROCESS_ABORT, SEND_A, ECONNRESET, PEER_ABORT, "F23 2A"),
	ROW(ST(PEER_ABORT_WAIT), RX_ABORT, 0,
	    CLOSED, END_RST, 0, NONE, "F23 1B"),
	IGNORE(ST(PROCESS_ABORT), EV(RX_ABORT)),

	ROW(ST(PROCESS_ABORT), TX_ABORT_DONE, 0,
	    CLOSED, END_RST, 0, NONE, "F23 2B"),
	IGNORE(OPEN | ST(PEER_ABORT_WAIT), EV(TX_ABORT_DONE)),

	/*
	 * Active abort. After own C no A is sent: TCP is reset, and the
	 * connection goes on waiting for the peer, which may still write.
	 */
	ROW(PEER_WAITS, APP_ABORT, G_TX_CLOSED,
	    STAY, DO(TCP_RST), 0, LOCAL_ABORT, "CONN-30"),
	ROW(OPEN, APP_ABORT, G_RX_CLOSED,
	    CLOSED, ABORT_END, 0, LOCAL_ABORT, "I-28"),
	ROW(OPEN, APP_ABORT, 0,
	    PEER_ABORT_WAIT, ABORT_WAIT, 0, LOCAL_ABORT, "F23 1A"),
	IGNORE(ABORTING, EV(APP_ABORT)),

	ROW(PEER_WAITS, VIOLATION, G_TX_CLOSED,
	    STAY, DO(TCP_RST), 0, CDC_CURSOR, "CONN-30"),
	ROW(OPEN, VIOLATION, G_RX_CLOSED,
	    CLOSED, READER_END, ECONNABORTED, CDC_CURSOR, "I-28"),
	ROW(OPEN, VIOLATION, 0,
	    PEER_ABORT_WAIT, ABORT_WAIT, ECONNABORTED, CDC_CURSOR, "F23 1A"),
	IGNORE(ABORTING, EV(VIOLATION)),

	/* after a reset the peer sends no C any more, at most its A */
	ROW(PEER_WAITS, TCP_RESET, G_TX_CLOSED,
	    STAY, DO(ABORT_TIMER), 0, TCP_RESET, "CONN-30"),
	/*
	 * After the peer's C a reset means that the peer's T_CLOSE expired
	 * before our application closed. There is no error, and the data that
	 * the peer wrote stay readable.
	 */
	ROW(OPEN, TCP_RESET, G_RX_CLOSED,
	    CLOSED, READER_END, 0, TCP_RESET, "I-28"),
	ROW(OPEN, TCP_RESET, 0,
	    PEER_ABORT_WAIT, SEND_A | DO(ABORT_TIMER), ECONNRESET, TCP_RESET,
	    "F23 1A"),
	IGNORE(ABORTING, EV(TCP_RESET)),

	/* the timer runs only after close() or own A: CONN-22 */
	ROW(PEER_WAITS, TIMER, G_TX_CLOSED,
	    CLOSED, END_RST, 0, CLOSE_TIMEOUT, "CONN-21"),
	ROW(OPEN, TIMER, G_WANT_CLOSED | G_RX_CLOSED,
	    CLOSED, ABORT_END, 0, CLOSE_TIMEOUT, "I-28"),
	ROW(OPEN, TIMER, G_WANT_CLOSED,
	    PEER_ABORT_WAIT, ABORT_WAIT, 0, CLOSE_TIMEOUT, "CONN-21"),
	ROW(ST(PEER_ABORT_WAIT), TIMER, 0,
	    CLOSED, END_RST, 0, ABORT_TIMEOUT, "CONN-26"),
	IGNORE(OPEN | ST(PROCESS_ABORT), EV(TIMER)),

	ROW(OPEN, LGR_LOST, G_RX_CLOSED,
	    CLOSED, DO(DROP_TX) | END_RST, 0, NO_LINK, "CONN-32"),
	ROW(OPEN, LGR_LOST, 0,
	    CLOSED, DO(PURGE) | END_RST, ECONNRESET, NO_LINK, "CONN-32"),
	ROW(ABORTING, LGR_LOST, 0,
	    CLOSED, END_RST, 0, NO_LINK, "CONN-32"),

	ROW(OPEN, CONFLICT, G_RX_CLOSED,
	    CLOSED, DO(NO_TX) | DO(DROP_TX) | END_RST, 0,
	    RMBE_CONFLICT, "RMB-24"),
	ROW(OPEN, CONFLICT, 0,
	    CLOSED, DO(NO_TX) | DO(PURGE) | END_RST, ECONNRESET,
	    RMBE_CONFLICT, "RMB-24"),
	ROW(ABORTING, CONFLICT, 0,
	    CLOSED, DO(NO_TX) | END_RST, 0, RMBE_CONFLICT, "RMB-24"),
};

#undef IGNORE
#undef ROW
#undef DO
#undef EV
#undef ST

static_assert(NR_SMCR_CONN_ST <= 16 && NR_SMCR_CONN_EV <= 16);

static u32 gather(const struct smcr_close *c,
		  const struct smcr_close_facts *facts)
{
	return (facts->unread ? G_UNREAD : 0) |
	       (facts->unsent ? G_UNSENT : 0) |
	       (facts->undrained ? G_UNDRAINED : 0) |
	       (c->tx_closed ? G_TX_CLOSED : 0) |
	       (c->rx_closed ? G_RX_CLOSED : 0) |
	       (c->app_closed ? G_APP_CLOSED : 0) |
	       (c->want_done ? G_WANT_DONE : 0) |
	       (c->want_closed ? G_WANT_CLOSED : 0);
}

/* Index of the first row of each state and event; set by smcr_close_setup() */
static u8 first_row[NR_SMCR_CONN_ST][NR_SMCR_CONN_EV] SMCR_ONCE_SET;
static_assert(ARRAY_SIZE(transitions) <= U8_MAX);

/**
 * smcr_close_setup() - set up the index of the table
 *
 * Called before the first smcr_close_step().
 */
void SMCR_SETUP smcr_close_setup(void)
{
	u32 st, ev, i;

	for (st = 0; st < NR_SMCR_CONN_ST; st++)
		for (ev = 0; ev < NR_SMCR_CONN_EV; ev++)
			for (i = ARRAY_SIZE(transitions); i--; )
				if ((transitions[i].from & (1u << st)) &&
				    (transitions[i].events & (1u << ev)))
					first_row[st][ev] = i;
}

static const struct smcr_close_row *find(u32 st, u32 ev, u32 holds)
{
	const struct smcr_close_row *row;

	for (row = transitions + first_row[st][ev];
	     row < transitions + ARRAY_SIZE(transitions); row++)
		if ((row->from & (1u << st)) && (row->events & (1u << ev)) &&
		    (row->guard & holds) == row->guard)
			return row;
	/* not reached: every state has a row for every event */
	return transitions;
}

/*
 * The timer runs only after close() or an abort, until the peer has consumed
 * our data and has answered our C or A.
 */
static bool timer_runs(const struct smcr_close *c)
{
	return c->st == SMCR_CONN_ST_PEER_ABORT_WAIT ||
	       (c->st != SMCR_CONN_ST_CLOSED &&
		(c->tx_closed || c->want_closed));
}

static void remember_event(struct smcr_close *c, enum smcr_conn_ev ev)
{
	switch (ev) {
	case SMCR_CONN_EV_APP_CLOSE:
	case SMCR_CONN_EV_APP_ABORT:
		SMCR_SET(c->app_closed, true);
		break;
	case SMCR_CONN_EV_RX_DONE:
		SMCR_SET(c->rx_done, true);
		break;
	case SMCR_CONN_EV_RX_CLOSED:
		SMCR_SET(c->rx_closed, true);
		break;
	case SMCR_CONN_EV_RX_ABORT:
		SMCR_SET(c->rx_abort, true);
		break;
	default:
		break;
	}
}

static void remember_actions(struct smcr_close *c, u32 actions)
{
	if (actions & ACT_WANT_DONE)
		SMCR_SET(c->want_done, true);
	if (actions & ACT_WANT_CLOSED) {
		SMCR_SET(c->want_done, false);
		SMCR_SET(c->want_closed, true);
	}
	if (actions & (SMCR_ACT_SEND_DONE | SMCR_ACT_SEND_CLOSED |
		       SMCR_ACT_SEND_ABORT | SMCR_ACT_RELEASE)) {
		SMCR_SET(c->want_done, false);
		SMCR_SET(c->want_closed, false);
	}
	if (actions & SMCR_ACT_SEND_DONE)
		SMCR_SET(c->tx_done, true);
	if (actions & SMCR_ACT_SEND_CLOSED)
		SMCR_SET(c->tx_closed, true);
	if (actions & SMCR_ACT_SEND_ABORT)
		SMCR_SET(c->tx_abort, true);
	if (actions & SMCR_ACT_TCP_RST)
		SMCR_SET(c->tcp_rst, true);
}

/**
 * smcr_close_init() - start in ACTIVE, after the handshake
 * @c: machine; zeroed memory is a machine in CLOSED
 */
void smcr_close_init(struct smcr_close *c)
{
	memset(c, 0, sizeof(*c));
	c->st = SMCR_CONN_ST_ACTIVE;
}

/**
 * smcr_close_step() - process one event
 * @c: machine, updated
 * @ev: event
 * @facts: state of the buffers at this moment
 * @why: reason to report for VIOLATION and the other abnormal events;
 *	 SMCR_R_NONE: the reason in the row
 * @out: filled with what the caller has to do
 *
 * The machine has a row for every (state, event) pair. If an event has no
 * effect in a state, no action is returned. In CLOSED only CONFLICT returns an
 * action, NO_TX. During the life of a connection either SEND_CLOSED or
 * SEND_ABORT is returned, once at most. SEND_DONE is returned once at most, and
 * before these. RELEASE, and one of TCP_FIN and TCP_RST, are returned exactly
 * once.
 *
 * The data that the peer wrote before its C stay readable when TCP, the link or
 * the group ends. They are dropped when the application closes, or if A came
 * with the C. So there may be unread data at RELEASE. Then the element is free
 * only after the application has read these data, or has closed.
 *
 * The caller
 * - applies first the cursors of each CDC (if smcr_close_may_rx()), then its
 *   flags D, C and A, in this order;
 * - reports data after the peer's D as VIOLATION (SMCR_R_CDC_DATA_AFTER_DONE);
 * - drops data that arrive after the application closed. Data that are unread
 *   at the close cause an A, but these later data do not: when an A arrives,
 *   the peer's application loses the data that it has not read yet. While a
 *   close waits for the drain (want_closed), the later data count as consumed.
 *   Otherwise two sides that closed with full windows would wait for each
 *   other;
 * - passes DRAINED when want_done or want_closed is set and nothing is
 *   undrained. At other times DRAINED does no harm;
 * - restarts T_CLOSE when the peer has consumed an eighth of its element since
 *   T_CLOSE began, or all that we have queued. It does so after a close: while
 *   want_closed is set, and after own C. It does not after an abnormal end, or
 *   after a FIN on TCP that came too early. So a slow reader gets everything,
 *   while a peer that reads next to nothing does not keep the connection for
 *   ever.
 */
void smcr_close_step(struct smcr_close *c, enum smcr_conn_ev ev,
		     const struct smcr_close_facts *facts,
		     enum smcr_reason why, struct smcr_close_out *out)
{
	const struct smcr_close_row *row = find(c->st, ev, gather(c, facts));
	bool timer = timer_runs(c) && ev != SMCR_CONN_EV_TIMER;
	u32 actions = row->actions;

	out->err = 0;
	out->why = why && row->why ? why : row->why;
	out->arc = row->arc;

	if (row->err && !c->app_closed) {
		actions |= SMCR_ACT_ERROR;
		out->err = row->err;
	}
	if (c->tcp_rst)
		actions &= ~(SMCR_ACT_TCP_RST | SMCR_ACT_TCP_FIN);

	if (c->st != SMCR_CONN_ST_CLOSED)
		remember_event(c, ev);
	remember_actions(c, actions);
	if (row->to != SMCR_CONN_ST_STAY)
		SMCR_SET(c->st, row->to);

	if (timer && !timer_runs(c))
		actions |= SMCR_ACT_STOP_TIMER;
	out->actions = actions & ~ACT_INTERNAL;
}

/**
 * smcr_close_may_send() - may the application queue data? (CONN-19)
 * @c: machine
 *
 * May also be called without the lock, even while a step changes @c. The result
 * is then that of before or after the step.
 *
 * Return: false after own shutdown, close or abort, and after the peer's C or
 * A. Sending then fails with EPIPE, or with the error that was reported.
 */
bool smcr_close_may_send(const struct smcr_close *c)
{
	u8 st = SMCR_GET(c->st);

	return (st == SMCR_CONN_ST_ACTIVE ||
		st == SMCR_CONN_ST_APP_CLOSE_WAIT1) &&
	       !SMCR_GET(c->app_closed) && !SMCR_GET(c->want_done) &&
	       !SMCR_GET(c->rx_closed);
}

/**
 * smcr_close_may_tx() - may a WRITE or a CDC be posted?
 * @c: machine. Do not call this function for the CDC of a SEND_* action: the
 *	step that returns the action has set tx_closed or tx_abort already, and
 *	the CDC is posted all the same
 *
 * Return: false after own C or A, after the peer's A, and in CLOSED.
 */
bool smcr_close_may_tx(const struct smcr_close *c)
{
	/*
	 * rx_abort needs no check: the step that sets it also sets tx_abort, or
	 * ends in CLOSED
	 */
	return c->st != SMCR_CONN_ST_CLOSED && !c->tx_closed && !c->tx_abort;
}

/**
 * smcr_close_may_rx() - do the cursors of the peer's CDCs count?
 * @c: machine
 *
 * They still count after the peer's D: the peer's consumer cursor opens the
 * window for own data.
 *
 * Return: false after the peer's C or A, after own A, and in CLOSED.
 */
bool smcr_close_may_rx(const struct smcr_close *c)
{
	return c->st != SMCR_CONN_ST_CLOSED && !c->rx_closed && !c->tx_abort;
}

/**
 * smcr_conn_st_name() - name of a state as in the RFC
 * @st: enum smcr_conn_st
 *
 * Return: static string, "unknown" for a value outside the enum.
 */
const char *smcr_conn_st_name(unsigned int st)
{
	static const char * const names[NR_SMCR_CONN_ST] = {
#define X(name, word) [SMCR_CONN_ST_##name] = word,
		SMCR_CONN_STATES(X)
#undef X
	};

	return st < NR_SMCR_CONN_ST ? names[st] : "unknown";
}

/**
 * smcr_conn_ev_name() - short name of an event, for tracing
 * @ev: enum smcr_conn_ev
 *
 * Return: static string, "unknown" for a value outside the enum.
 */
const char *smcr_conn_ev_name(unsigned int ev)
{
	static const char * const names[NR_SMCR_CONN_EV] = {
#define X(name, word) [SMCR_CONN_EV_##name] = word,
		SMCR_CONN_EVENTS(X)
#undef X
	};

	return ev < NR_SMCR_CONN_EV ? names[ev] : "unknown";
}
