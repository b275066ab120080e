/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failover: what a connection sends first on another link, RFC 7609 4.6
 * (conformance catalogue, FO).
 *
 * Work requests of a link complete in the order in which they were posted. So a
 * position and a sequence number, the failover point, are enough to know which
 * CDC messages, and which data before them, have certainly arrived. All that
 * was posted later is repeated, in merged form: the same bytes are written to
 * the same places, and one CDC with a new sequence number follows (FO-10). The
 * peer may have processed some of what is repeated. A CDC that announced only a
 * part of the data could have a producer cursor behind one that the peer has
 * processed, and this cursor must never go backwards. So no CDC announces a part
 * before all is written.
 */
#ifndef _SMCR_CORE_FAILOVER_H
#define _SMCR_CORE_FAILOVER_H

#include "cursor.h"
#include "env.h"

/**
 * struct smcr_fo - failover point: what has certainly arrived
 * @seq: sequence number of the last CDC whose own send has completed (I-38), the
 *	RFC's SS; 0 before the first (FO-25)
 * @abs: producer position in that CDC
 * @twice: from here to @twice_end data were posted twice, on a lost link and on the
 *	one after it, and the second copy has no completion yet
 * @twice_end: not after @abs: there are no such data
 */
struct smcr_fo {
	u16 seq;
	u64 abs;
	u64 twice;
	u64 twice_end;
};

/*
 * State of a connection when all work requests of the old link have ended
 * (FO-03)
 */
struct smcr_fo_facts {
	u16 seq;		/* of the last CDC posted */
	bool closed;		/* C or A has been posted: no CDC follows */
	bool aborted;		/* A was posted, or goes with the next CDC: no data */
	bool drained;		/* all that was posted on the old link has arrived */
	bool behind;		/* what an earlier link lost is not posted again yet */
	struct smcr_pos prod;	/* producer position in the last CDC posted */
	struct smcr_pos cons;	/* last consumer position of the peer */
};

/**
 * struct smcr_fo_plan - what the new link carries first
 * @validate: send a CDC with F and sequence number @seq (FO-07)
 * @seq: sequence number of the failover point
 * @redo: the current state has to be sent again, in a CDC of its own if there
 *	are no data (FO-12)
 * @prod: position from which data are written again, up to the old producer
 * @bound: first position that must not be written yet: data from there on take
 *	the places, in the ring, of data that were posted on the old link, and
 *	that are written again, or were posted twice. A delayed packet
 *	of the old link, with those older data, could overwrite the newer ones.
 *	The limit holds as long as the peer may accept such a packet; U64_MAX: no
 *	limit: each such packet has arrived, or no data follow
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
 * smcr_fo_valid() - has all arrived that the peer takes for received? (FO-08)
 * @seq: sequence number in a CDC with F, the peer's SS
 * @last: sequence number of the last CDC received and processed, the RFC's SR
 *
 * Return: false if data were lost: the connection has to be reset.
 */
static inline bool smcr_fo_valid(u16 seq, u16 last)
{
	return !smcr_seq_after(seq, last);
}

#endif /* _SMCR_CORE_FAILOVER_H */
