/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ownership of a handshake: the thread that runs it, and the events that change
 * the owner. The owner has the turn. After a kick (KICK) the handshake checks
 * again whether what it waits for has come. The state is one word, which the
 * caller changes by compare-and-exchange. The transitions are in hs_turn.c.
 */
#ifndef _SMCR_CORE_HS_TURN_H
#define _SMCR_CORE_HS_TURN_H

#include "env.h"

/*
 *	IDLE	there is no handshake
 *	PARKED	the handshake waits for an event or its timer; no thread runs it
 *	DUE	the work of the handshake is queued
 *	RUNNING	a thread runs the handshake
 *	AGAIN	as RUNNING, but the thread has to check again before it parks
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

/* Flag in the same word: the result is not wanted any more. END clears it. */
#define SMCR_TURN_STOP	0x80u
#define SMCR_TURN_MASK	0x7fu

enum smcr_turn_ev {
	SMCR_TURN_EV_BEGIN,	/* the socket gets a handshake */
	SMCR_TURN_EV_KICK,	/* the handshake has something to check; any context */
	SMCR_TURN_EV_RUN,	/* the work has begun */
	SMCR_TURN_EV_PARK,	/* the running thread has to wait */
	SMCR_TURN_EV_STOP,	/* shutdown(), close(), the listener's end */
	SMCR_TURN_EV_END,	/* the running thread has settled the mode */
	SMCR_TURN_EV_RESET,	/* the socket is used anew */
	NR_SMCR_TURN_EV
};

/* Outcome of an event for its caller */
enum smcr_turn_act {
	SMCR_TURN_NONE,
	SMCR_TURN_QUEUE,	/* queue the work */
	SMCR_TURN_OURS,		/* go on: the caller runs the handshake */
	SMCR_TURN_LATER,	/* another thread runs it, and will find STOP */
	SMCR_TURN_OVER,		/* there is nothing to stop */
	SMCR_TURN_UNWANTED,	/* ended after STOP had come: undo the result */
	SMCR_TURN_BUG,		/* impossible event; the state stays */
};

struct smcr_turn_step {
	u32 word;
	enum smcr_turn_act act;
};

struct smcr_turn_step smcr_turn_next(u32 word, enum smcr_turn_ev ev);

#endif /* _SMCR_CORE_HS_TURN_H */
