/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sweep of faults. simsweep_tab.c: tables of faults and of their expected
 * outcomes; simsweep.c: the run of a combination. Hosts and devices are those
 * of random worlds (simworld_host.c).
 */
#ifndef _SIMSWEEP_H
#define _SIMSWEEP_H

#include "simworld.h"

/* X(NAME, name, what happens while the fault is set) */
#define STEPS(X)									\
	X(FIRST, first, "the first contact of two hosts")				\
	X(SETTLE, settle, "the same, but the second message of a kind")			\
	X(REUSE, reuse, "a second connection, while the first one sends")		\
	X(DATA, data, "much data both ways")						\
	X(WINDOW, window, "both windows were full; both readers begin to read")		\
	X(CLOSE, close, "the client sends and closes, then the server closes")		\
	X(ABORT, abort, "the client aborts")						\
	X(CONFIRM, confirm-rkey, "a third connection needs a new RMB")			\
	X(DELETE, delete-rkey, "an unused RMB is given back, another one is in use")	\
	X(TEST, test-link, "nothing is sent for a while")				\
	X(END, end, "the server ends a group without connections")

/* Knobs of the hosts, ms */
#define T_TESTLINK	5000
#define T_RMB_FREE	1000	/* in DELETE */

enum sweep_step {
#define X(id, name, text) S_##id,
	STEPS(X)
#undef X
	NR_STEPS
};

enum outcome {
	O_SMC,		/* all data, over SMC-R: not disturbed */
	O_TCP,		/* all data, over TCP */
	O_RESET,	/* an error at both ends, or at the one that was still open */
	O_FAILED,	/* connect() failed */
	O_HALF,		/* connect() succeeded, a reset came before accept() */
	O_ENDED,	/* there was no connection, and the group has ended */
	O_HANGS,
	NR_OUTCOMES
};

#define OUTCOMES "unhurt", "TCP", "reset", "connect failed", \
		 "reset before accept", "group ended", "HANGS"

#define SMC	(1u << O_SMC)
#define TCP	(1u << O_TCP)
#define RESET	(1u << O_RESET)
#define FAILED	(1u << O_FAILED)
#define HALF	(1u << O_HALF)

/* What a fault does to a link that is up */
enum kind {
	K_CALM,		/* nothing that a connection would notice */
	K_MAKE,		/* an object cannot be created */
	K_DEAD,		/* the link fails at once, as this side notices */
	K_SILENT,	/* nothing is acknowledged any more */
	K_LOST,		/* a completion, and with it perhaps a message, is lost */
	K_DEAF,		/* no completion is handled any more */
	K_PORT,		/* the port, or the device, cannot be used any more */
	K_GID,		/* the GID is renewed, at another index if in use */
};

enum off { OFF_NOT, OFF_PORT, OFF_GONE, OFF_PAUSED };

struct fault {
	const char *point, *when, *action;
	int arg;
	enum kind kind;
	const char *first;	/* reason of the Decline if this happens in first contact */
	enum off off;		/* what has to be repaired afterwards */
	bool stays;		/* set until the connection is over */
};

struct expect {
	u32 x, z;		/* outcomes: of the connection, of a new one in that step */
	u32 up;			/* ms until both new ends are open or have an error */
	u32 ms;			/* ms until both ends have their error */
	const char *why;	/* one of these is counted; SIDE:REASON: on SIDE */
	const char *because;	/* of an exception */
};

extern const char * const step_names[];
extern const char *points[64];
extern int n_points;
extern struct fault faults[512];
extern int n_faults;

void tables(void);
struct expect expect(enum sweep_step s, int host, const struct fault *f, const char *name);
const char *decline_reasons(enum sweep_step s, int host, const struct fault *f, const char *name);
u32 mute_hosts(int host, const char *name);
const char *not_reached(enum sweep_step s, int host, const struct fault *f);
bool is_reason(const char *name);

#endif /* _SIMSWEEP_H */
