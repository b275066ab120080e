/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failover: what a connection sends when it changes to another link, RFC 7609
 * 4.6 (conformance catalogue, FO).
 *
 * Completions of a link come in the order in which it was posted, so that a
 * position and a sequence number say which CDC messages, and which data before
 * them, have certainly arrived. All that came after is done again: not as it was,
 * but merged, by one message with a new sequence number (FO-10) behind writes of
 * the same bytes to the same places. The peer may have processed some of it, so
 * nothing is announced before all of it is written: its producer cursor never
 * goes backwards.
 */
#ifndef _SMCR_CORE_FAILOVER_H
#define _SMCR_CORE_FAILOVER_H

#include "env.h"
#include "cursor.h"

/*
 * struct smcr_fo - what has certainly arrived
 * @seq: sequence number of the last CDC whose own send has completed (I-38), the
 *	RFC's SS; 0 before the first (FO-25)
 * @abs: the producer position in that message
 */
struct smcr_fo {
	u16 seq;
	u64 abs;
};

/* What is known when all work requests of the old link have ended (FO-03) */
struct smcr_fo_facts {
	u16 seq;		/* of the last CDC that was posted */
	bool closed;		/* ... or before: C or A, after which nothing follows */
	bool aborted;		/* A was posted, or goes with the next CDC: no data */
	bool drained;		/* all that was posted on the old link has arrived */
	bool behind;		/* what an earlier link lost was not posted there */
	struct smcr_pos prod;	/* producer position in it */
	struct smcr_pos cons;	/* of the peer, as far as it has told */
};

/*
 * struct smcr_fo_plan - what the new link carries first
 * @validate: a CDC with F and sequence number @seq (FO-07)
 * @redo: the current state has to be told again, in a CDC of its own if there
 *	are no data (FO-12)
 * @prod: position from which data are written again, up to the old producer
 * @bound: a packet of the old link that was held up on its way may still be written to
 *	places before this position less a ring: nothing goes there while the peer may
 *	take it; U64_MAX: there is none
 */
struct smcr_fo_plan {
	bool validate;
	u16 seq;
	bool redo;
	struct smcr_pos prod;
	u64 bound;
};

void smcr_fo_done(struct smcr_fo *fo, u16 seq, u64 abs);
void smcr_fo_plan(struct smcr_fo *fo, const struct smcr_ring *ring,
		  const struct smcr_fo_facts *facts, struct smcr_fo_plan *plan);

/**
 * smcr_fo_valid() - does nothing lack that the peer takes for received? (FO-08)
 * @seq: sequence number in a CDC with F, the peer's SS
 * @last: of the last CDC that was received and processed, the RFC's SR
 *
 * Return: false if data were lost: the connection has to be reset.
 */
static inline bool smcr_fo_valid(u16 seq, u16 last)
{
	return !smcr_seq_after(seq, last);
}

#endif /* _SMCR_CORE_FAILOVER_H */
