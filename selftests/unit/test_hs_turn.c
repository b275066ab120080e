// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/hs_turn.c: which thread runs a handshake. */
#include "ktap.h"

#include "hs_turn.h"

static const u32 states[] = {
	SMCR_TURN_IDLE, SMCR_TURN_PARKED, SMCR_TURN_DUE, SMCR_TURN_RUNNING,
	SMCR_TURN_AGAIN, SMCR_TURN_ENDED,
};

static bool running(u32 word)
{
	u32 state = word & SMCR_TURN_MASK;

	return state == SMCR_TURN_RUNNING || state == SMCR_TURN_AGAIN;
}

TEST(smcr_turn_next__one_owner)
{
	u32 i, ev;

	for (i = 0; i < 2 * ARRAY_SIZE(states); i++) {
		u32 word = states[i / 2] | (i & 1 ? SMCR_TURN_STOP : 0);

		for (ev = 0; ev < NR_SMCR_TURN_EV; ev++) {
			struct smcr_turn_step s = smcr_turn_next(word, ev);

			if (s.act == SMCR_TURN_BUG) {
				EXPECT_EQ(s.word, word);
				continue;
			}
			/* a turn is got when free, or kept at PARK */
			if (s.act == SMCR_TURN_OURS) {
				EXPECT_TRUE(running(s.word));
				EXPECT_EQ(running(word), ev == SMCR_TURN_EV_PARK);
			}
			/* only PARK and END take the turn from a thread */
			if (running(word) && !running(s.word))
				EXPECT_TRUE(ev == SMCR_TURN_EV_PARK ||
					    ev == SMCR_TURN_EV_END);
			/* a stop is remembered, and reported at the end */
			if (ev == SMCR_TURN_EV_END) {
				EXPECT_EQ(s.act, word & SMCR_TURN_STOP ?
					  SMCR_TURN_UNWANTED : SMCR_TURN_NONE);
				EXPECT_EQ(s.word, SMCR_TURN_ENDED);
			} else {
				EXPECT_TRUE(!(word & SMCR_TURN_STOP) ||
					    (s.word & SMCR_TURN_STOP));
			}
			/* work is queued exactly when PARKED becomes DUE */
			EXPECT_EQ(s.act == SMCR_TURN_QUEUE,
				  (word & SMCR_TURN_MASK) == SMCR_TURN_PARKED &&
				  (s.word & SMCR_TURN_MASK) == SMCR_TURN_DUE);
		}
	}
}

TEST(smcr_turn_next__stop)
{
	struct smcr_turn_step s;

	covers("CONN-38");
	/* STOP gets the turn if it is free, also with the work queued */
	s = smcr_turn_next(SMCR_TURN_PARKED, SMCR_TURN_EV_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_OURS);
	EXPECT_EQ(s.word, SMCR_TURN_RUNNING | SMCR_TURN_STOP);
	s = smcr_turn_next(SMCR_TURN_DUE, SMCR_TURN_EV_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_OURS);
	/* the work that runs then has nothing to do */
	EXPECT_EQ(smcr_turn_next(s.word, SMCR_TURN_EV_RUN).act, SMCR_TURN_NONE);
	EXPECT_EQ(smcr_turn_next(SMCR_TURN_ENDED, SMCR_TURN_EV_RUN).act,
		  SMCR_TURN_NONE);
	EXPECT_EQ(smcr_turn_next(SMCR_TURN_PARKED, SMCR_TURN_EV_RUN).act,
		  SMCR_TURN_NONE);
	/* a thread that is about to park has to handle it first */
	s = smcr_turn_next(SMCR_TURN_RUNNING, SMCR_TURN_EV_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_LATER);
	s = smcr_turn_next(s.word, SMCR_TURN_EV_PARK);
	EXPECT_EQ(s.act, SMCR_TURN_OURS);
	EXPECT_EQ(s.word, SMCR_TURN_RUNNING | SMCR_TURN_STOP);
	/* it may still have to wait, for the socket's lock: then it parks */
	s = smcr_turn_next(s.word, SMCR_TURN_EV_PARK);
	EXPECT_EQ(s.word, SMCR_TURN_PARKED | SMCR_TURN_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_NONE);
	/* nothing to stop */
	s = smcr_turn_next(SMCR_TURN_IDLE, SMCR_TURN_EV_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_OVER);
	EXPECT_EQ(s.word, SMCR_TURN_IDLE);
	s = smcr_turn_next(SMCR_TURN_ENDED, SMCR_TURN_EV_STOP);
	EXPECT_EQ(s.act, SMCR_TURN_OVER);
	EXPECT_EQ(s.word, SMCR_TURN_ENDED);
}

TEST(smcr_turn_next__nonsense)
{
	EXPECT_EQ(smcr_turn_next(NR_SMCR_TURN, SMCR_TURN_EV_KICK).act,
		  SMCR_TURN_BUG);
	EXPECT_EQ(smcr_turn_next(SMCR_TURN_IDLE, NR_SMCR_TURN_EV).act,
		  SMCR_TURN_BUG);
	EXPECT_EQ(smcr_turn_next(SMCR_TURN_DUE, SMCR_TURN_EV_BEGIN).act,
		  SMCR_TURN_BUG);
	EXPECT_EQ(smcr_turn_next(SMCR_TURN_RUNNING, SMCR_TURN_EV_RESET).act,
		  SMCR_TURN_BUG);
}

/*
 * All interleavings of: a worker that reads the facts, then parks; @events
 * events, each of which sets a fact and then sends a KICK; a thread that stops
 * the handshake once. Queued work runs at some time, one at a time. At the end
 * the handshake has ended, or it has read all the facts and is parked.
 */
struct world {
	u32 word;
	u32 facts;		/* facts that are set */
	u32 kicks;		/* KICKs that have followed them */
	u32 seen;		/* facts at the worker's last read */
	u32 pc;			/* worker: 0 none, 1 to read, 2 to park, 3 to end */
	u32 who;		/* has the turn: 0 none, 1 worker, 2 stopper */
	u32 work;		/* queued */
	u32 stopper;		/* 0 has to stop, 1 has the turn, 2 done */
	bool ended;
};

static unsigned long ends;
static u32 events;

static enum smcr_turn_act turn(struct world *w, enum smcr_turn_ev ev)
{
	struct smcr_turn_step s = smcr_turn_next(w->word, ev);

	EXPECT_NE(s.act, SMCR_TURN_BUG);
	w->word = s.word;
	return s.act;
}

static void explore(struct world w);

static void branch_event(struct world w)
{
	if (w.facts == w.kicks) {
		w.facts++;
	} else {
		w.kicks++;
		if (turn(&w, SMCR_TURN_EV_KICK) == SMCR_TURN_QUEUE)
			w.work = 1;
	}
	explore(w);
}

static void branch_stop(struct world w)
{
	if (w.stopper == 1) {
		EXPECT_EQ(w.who, 2);
		EXPECT_EQ(turn(&w, SMCR_TURN_EV_END), SMCR_TURN_UNWANTED);
		w.who = 0;
		w.ended = true;
		w.stopper = 2;
	} else if (turn(&w, SMCR_TURN_EV_STOP) == SMCR_TURN_OURS) {
		EXPECT_EQ(w.who, 0);
		w.who = 2;
		w.stopper = 1;
	} else {
		w.stopper = 2;
	}
	explore(w);
}

static void branch_worker(struct world w)
{
	switch (w.pc) {
	case 0:
		w.work = 0;
		if (turn(&w, SMCR_TURN_EV_RUN) == SMCR_TURN_OURS) {
			EXPECT_EQ(w.who, 0);
			w.who = 1;
			w.pc = 1;
		}
		break;
	case 1:
		w.seen = w.facts;
		w.pc = w.word & SMCR_TURN_STOP ? 3 : 2;
		break;
	case 2:
		if (turn(&w, SMCR_TURN_EV_PARK) == SMCR_TURN_OURS) {
			w.pc = 1;
		} else {
			w.who = 0;
			w.pc = 0;
		}
		break;
	default:
		EXPECT_EQ(turn(&w, SMCR_TURN_EV_END), SMCR_TURN_UNWANTED);
		w.who = 0;
		w.ended = true;
		w.pc = 0;
	}
	explore(w);
}

static void explore(struct world w)
{
	bool more = false;

	if (w.kicks < events) {
		more = true;
		branch_event(w);
	}
	if (w.stopper < 2) {
		more = true;
		branch_stop(w);
	}
	if (w.pc || w.work) {
		more = true;
		branch_worker(w);
	}
	if (more)
		return;
	ends++;
	EXPECT_EQ(w.who, 0);
	EXPECT_TRUE(w.ended);		/* by a stop, which all have */
	EXPECT_EQ(w.word, SMCR_TURN_ENDED);
}

static void explore_kicks(struct world w)
{
	bool more = false;

	if (w.kicks < events) {
		struct world n = w;

		more = true;
		if (n.facts == n.kicks) {
			n.facts++;
		} else {
			n.kicks++;
			if (turn(&n, SMCR_TURN_EV_KICK) == SMCR_TURN_QUEUE)
				n.work = 1;
		}
		explore_kicks(n);
	}
	if (w.pc || w.work) {
		struct world n = w;

		more = true;
		if (!n.pc) {
			n.work = 0;
			EXPECT_EQ(turn(&n, SMCR_TURN_EV_RUN), SMCR_TURN_OURS);
			n.pc = 1;
		} else if (n.pc == 1) {
			n.seen = n.facts;
			n.pc = 2;
		} else {
			n.pc = turn(&n, SMCR_TURN_EV_PARK) == SMCR_TURN_OURS;
		}
		explore_kicks(n);
	}
	if (more)
		return;
	ends++;
	EXPECT_EQ(w.seen, events);	/* no event was lost */
	EXPECT_EQ(w.word, SMCR_TURN_PARKED);
}

TEST(smcr_turn_next__no_event_is_lost)
{
	struct world w = { .word = SMCR_TURN_PARKED };

	events = 4;
	ends = 0;
	explore_kicks(w);
	EXPECT_TRUE(ends > 1000);
}

TEST(smcr_turn_next__every_stop_ends_it)
{
	struct world w = { .word = SMCR_TURN_PARKED };

	covers("CONN-38");
	events = 3;
	ends = 0;
	explore(w);
	EXPECT_TRUE(ends > 1000);
}
