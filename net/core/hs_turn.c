// SPDX-License-Identifier: GPL-2.0-only
/* Ownership of a handshake: the table of its states. See hs_turn.h. */
#include "env.h"
#include "hs_turn.h"

struct turn_cell {
	u8 to;
	u8 act;
};

#define TO(state_, act_) { SMCR_TURN_##state_, SMCR_TURN_##act_ }
#define ROW(state_, begin_, kick_, run_, park_, stop_, end_, reset_)	\
	[SMCR_TURN_##state_] = {					\
		[SMCR_TURN_EV_BEGIN] = begin_,				\
		[SMCR_TURN_EV_KICK] = kick_,				\
		[SMCR_TURN_EV_RUN] = run_,				\
		[SMCR_TURN_EV_PARK] = park_,				\
		[SMCR_TURN_EV_STOP] = stop_,				\
		[SMCR_TURN_EV_END] = end_,				\
		[SMCR_TURN_EV_RESET] = reset_,				\
	}

/*
 * Columns: BEGIN, KICK, RUN, PARK, STOP, END, RESET.
 *
 * No event is lost: after a KICK or a STOP between the last check of the
 * running thread and its PARK, the thread checks again (AGAIN). A work has
 * nothing to do (RUN: NONE) if another thread runs the handshake, or if the
 * socket has a newer handshake that is not due. If no thread runs the
 * handshake, a thread that stops it becomes its owner (STOP: OURS), so it does
 * not have to wait for a worker.
 */
static const struct turn_cell turn_table[NR_SMCR_TURN][NR_SMCR_TURN_EV] = {
	ROW(IDLE,
	    TO(PARKED, NONE), TO(IDLE, NONE), TO(IDLE, NONE), TO(IDLE, BUG),
	    TO(IDLE, OVER), TO(IDLE, BUG), TO(IDLE, NONE)),
	ROW(PARKED,
	    TO(PARKED, BUG), TO(DUE, QUEUE), TO(PARKED, NONE), TO(PARKED, BUG),
	    TO(RUNNING, OURS), TO(PARKED, BUG), TO(PARKED, BUG)),
	ROW(DUE,
	    TO(DUE, BUG), TO(DUE, NONE), TO(RUNNING, OURS), TO(DUE, BUG),
	    TO(RUNNING, OURS), TO(DUE, BUG), TO(DUE, BUG)),
	ROW(RUNNING,
	    TO(RUNNING, BUG), TO(AGAIN, NONE), TO(RUNNING, NONE),
	    TO(PARKED, NONE), TO(AGAIN, LATER), TO(ENDED, NONE),
	    TO(RUNNING, BUG)),
	ROW(AGAIN,
	    TO(AGAIN, BUG), TO(AGAIN, NONE), TO(AGAIN, NONE),
	    TO(RUNNING, OURS), TO(AGAIN, LATER), TO(ENDED, NONE),
	    TO(AGAIN, BUG)),
	ROW(ENDED,
	    TO(ENDED, BUG), TO(ENDED, NONE), TO(ENDED, NONE), TO(ENDED, BUG),
	    TO(ENDED, OVER), TO(ENDED, BUG), TO(IDLE, NONE)),
};

#undef ROW
#undef TO

/**
 * smcr_turn_next() - the transition of a handshake for an event
 * @word: enum smcr_turn, with or without SMCR_TURN_STOP
 * @ev: event
 *
 * Return: the new word, and what the caller has to do when it has set the word.
 */
struct smcr_turn_step smcr_turn_next(u32 word, enum smcr_turn_ev ev)
{
	struct smcr_turn_step step = { word, SMCR_TURN_BUG };
	u32 state = word & SMCR_TURN_MASK;
	const struct turn_cell *cell;

	if (state >= NR_SMCR_TURN || (u32)ev >= NR_SMCR_TURN_EV)
		return step;
	cell = &turn_table[state][ev];
	step.word = cell->to | (word & SMCR_TURN_STOP);
	step.act = cell->act;
	if (step.act == SMCR_TURN_BUG)
		return step;
	if (ev == SMCR_TURN_EV_STOP && step.act != SMCR_TURN_OVER)
		step.word |= SMCR_TURN_STOP;
	if (ev == SMCR_TURN_EV_END) {
		if (word & SMCR_TURN_STOP)
			step.act = SMCR_TURN_UNWANTED;
		step.word = SMCR_TURN_ENDED;
	}
	return step;
}
