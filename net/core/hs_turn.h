/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs a handshake now, and what an event means for that. The one word in
 * which the state is kept is changed by compare-and-exchange; this file says
 * from what to what.
 */
#ifndef _SMCR_CORE_HS_TURN_H
#define _SMCR_CORE_HS_TURN_H

#include "env.h"

/*
 *	IDLE	there is no handshake
 *	PARKED	it waits for an event or its timer; no thread is at it
 *	DUE	its work is queued
 *	RUNNING	a thread is at it
 *	AGAIN	a thread is at it, and has to look once more before it parks
 *	ENDED	the socket's mode is settled
 */
enum smcr_turn {
	SMCR_TURN_IDLE,
	SMCR_TURN_PARKED,
	SMCR_TURN_DUE,
	SMCR_TURN_RUNNING,
	SMCR_TURN_AGAIN,
	SMCR_TURN_ENDED,
	NR_SMCR_TURN
};

/* In the same word: nobody wants the result any more. Set until END. */
#define SMCR_TURN_STOP	0x80u
#define SMCR_TURN_MASK	0x7fu

enum smcr_turn_ev {
	SMCR_TURN_EV_BEGIN,	/* the socket gets a handshake */
	SMCR_TURN_EV_KICK,	/* something happened; any context */
	SMCR_TURN_EV_RUN,	/* the work has begun */
	SMCR_TURN_EV_PARK,	/* the running thread has to wait */
	SMCR_TURN_EV_STOP,	/* shutdown(), close(), the listener's end */
	SMCR_TURN_EV_END,	/* the running thread has settled the mode */
	SMCR_TURN_EV_RESET,	/* the socket is as new */
	NR_SMCR_TURN_EV
};

/* What the caller of the event has to do, or has learnt */
enum smcr_turn_act {
	SMCR_TURN_NONE,
	SMCR_TURN_QUEUE,	/* queue the work */
	SMCR_TURN_OURS,		/* go on: the caller runs the handshake */
	SMCR_TURN_LATER,	/* another thread runs it and will see STOP */
	SMCR_TURN_OVER,		/* there is nothing to stop */
	SMCR_TURN_UNWANTED,	/* ended, but STOP came before: undo the result */
	SMCR_TURN_BUG,		/* cannot be; the state stays */
};

struct smcr_turn_step {
	u32 word;
	enum smcr_turn_act act;
};

struct smcr_turn_step smcr_turn_next(u32 word, enum smcr_turn_ev ev);

#endif /* _SMCR_CORE_HS_TURN_H */
