// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verdicts on requests that the step does not wait for: RFC 7609 3.5.5.3,
 * catalogue E.1. Columns of the tables: no step is under way; a step of ADD
 * LINK .. CONFIRM LINK; a step of DELETE LINK. An own RKEY exchange does not
 * change the verdict: it is independent of the peer's RKEY exchange (LLC-17,
 * LLC-89), and the server carries out a client's notice after it (LLC-84,
 * LLC-86). See lgr_fsm.h.
 */
#include "env.h"
#include "lgr_fsm_int.h"

/* Columns of the tables below */
enum { COL_NONE, COL_ADD, COL_DEL, COL_END, NR_COL };

#define X(name, column, word) [SMCR_LGR_##name] = COL_##column,
static const u8 step_column[NR_SMCR_LGR_STEP] = {
	SMCR_LGR_STEPS(X)
};

#undef X

struct verdict_row {
	u8 type;
	u8 verdict[NR_COL];
};

#define ROW(type_, none_, add_, del_) \
	{ SMCR_LLC_##type_, { LF_##none_, LF_##add_, LF_##del_, LF_IGNORE } }

/* Requests of the client */
static const struct verdict_row at_server[] = {
	/* only a server sends these requests: LLC-18, LLC-36 */
	ROW(CONFIRM_LINK,	FAIL,	FAIL,	FAIL),
	ROW(ADD_LINK_CONT,	FAIL,	FAIL,	FAIL),
	/* notice: LLC-74, LLC-79 */
	ROW(ADD_LINK,		DO,	IGNORE,	NOTE),
	/* notice: LLC-75, LLC-80; lf_del_asked() marks the link for deletion */
	ROW(DELETE_LINK,	DO,	DO,	DO),
	/* LLC-77, LLC-82 */
	ROW(CONFIRM_RKEY,	DO,	REFUSE,	REFUSE),
	ROW(CONFIRM_RKEY_CONT,	DO,	REFUSE,	REFUSE),
	/* LLC-90 */
	ROW(DELETE_RKEY,	DO,	DEFER,	DEFER),
};

/* Requests of the server, which has one exchange at a time (LLC-15) */
static const struct verdict_row at_client[] = {
	/* parts of an exchange: valid only if a step waits for them */
	ROW(CONFIRM_LINK,	FAIL,	FAIL,	FAIL),
	ROW(ADD_LINK_CONT,	FAIL,	FAIL,	FAIL),
	/* GIVEN_UP: the server has begun another exchange, see lf_given_up() */
	ROW(ADD_LINK,		DO,	GIVEN_UP, GIVEN_UP),
	/* ends ADD LINK (LLC-24, LLC-25), or is sent again (LLC-50) */
	ROW(DELETE_LINK,	DO,	DO,	DO),
	ROW(CONFIRM_RKEY,	DO,	GIVEN_UP, GIVEN_UP),
	ROW(CONFIRM_RKEY_CONT,	DO,	FAIL,	FAIL),
	ROW(DELETE_RKEY,	DO,	DEFER,	DEFER),
};

#undef ROW

/* Each table has a row for every type but TEST LINK: see lgr/llc_test.c */
#define X(name, num, word) + 1
static_assert(ARRAY_SIZE(at_server) == 0 SMCR_LLC_TYPES(X) - 1);
static_assert(ARRAY_SIZE(at_client) == 0 SMCR_LLC_TYPES(X) - 1);
#undef X

/* struct smcr_fsm_link has masks of 16 bits, with one bit for each type */
#define X(name, num, word) | (num)
static_assert((0 SMCR_LLC_TYPES(X)) < 16);
#undef X

/*
 * Is the server in an exchange of which it has not sent a message yet? Its step
 * may take long, and the client could not see the reason of a refusal.
 */
static bool nothing_sent(const struct smcr_lgr_fsm *f)
{
	return !f->first && (f->step == SMCR_LGR_S_ADD_MAKE ||
			     f->step == SMCR_LGR_S_DEL_MOVE);
}

/* The verdict on a request of a type that the step does not wait for */
enum lf_verdict lf_verdict(const struct smcr_lgr_fsm *f, u8 type)
{
	const struct verdict_row *row = f->server ? at_server : at_client;
	unsigned int i;

	/* the tables decide on a CONTINUATION that follows no CONFIRM RKEY */
	if (lf_is_rkey(type) && nothing_sent(f) &&
	    (type != SMCR_LLC_CONFIRM_RKEY_CONT || f->peer_rkey))
		return LF_DO;
	for (i = 0; i < ARRAY_SIZE(at_server); i++)
		if (row[i].type == type)
			return row[i].verdict[step_column[f->step]];
	return LF_FAIL;
}
