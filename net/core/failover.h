/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failover: what a connection sends first on another link, RFC 7609 4.6
 * (conformance catalogue, FO).
 *
 * Work requests of a link complete in the order in which they were posted. So
 * if a CDC has completed, all CDC messages and data before it have certainly
 * arrived, too. The producer position and the sequence number of the last
 * completed CDC are the failover point. Everything that was posted behind it is
 * repeated, in merged form: the same bytes are written to the same places, and
 * one CDC with a new sequence number follows (FO-10).
 *
 * The peer may have processed a part of this already, and the producer cursor
 * that it receives must never go backwards. A CDC that announces only some of
 * the repeated data could have a cursor behind the last one that the peer has
 * processed. So the CDC follows when all of these data are written again.
 */
#ifndef _SMCR_CORE_FAILOVER_H
#define _SMCR_CORE_FAILOVER_H

#include "cursor.h"
#include "env.h"

/**
 * struct smcr_fo - failover point: what has certainly arrived
 * @seq: sequence number of the last CDC whose own send has completed (I-38), the
 *	RFC's SS; 0 before the first one has completed (FO-25)
 * @abs: producer position in the CDC with the number @seq
 * @twice: start of the data that were posted twice, on a lost link and on the
 *	link after it. Of the bytes behind @abs, the second post has not
 *	completed. If that link is lost, too, the network may still deliver
 *	these bytes, so they set a limit (@bound of struct smcr_fo_plan)
 * @twice_end: end of the data that were posted twice; no such data are left if
 *	it is not after @abs
 */
struct smcr_fo {
	u16 seq;
	u64 abs;
	u64 twice;
	u64 twice_end;
};

/*
 * State of a connection after all work requests of the old link have ended
 * (FO-03)
 */
struct smcr_fo_facts {
	u16 seq;		/* of the last CDC posted */
	bool closed;		/* C or A was posted: no CDC follows */
	bool aborted;		/* A was posted, or is in the next CDC: no more data */
	bool drained;		/* all that was posted on the old link has arrived */
	bool behind;		/* posts lost with an earlier link are not all repeated */
	struct smcr_pos prod;	/* producer position in the last CDC posted */
	struct smcr_pos cons;	/* last consumer position of the peer */
};

/**
 * struct smcr_fo_plan - what the new link carries first
 * @validate: send a CDC with F and sequence number @seq (FO-07)
 * @seq: sequence number of the failover point
 * @redo: the current state has to be sent again in a CDC, even if there are no
 *	data to write again (FO-12)
 * @prod: start of the data that are written again; they end at the producer
 *	position in the last CDC posted
 * @bound: first position that must not be written yet; U64_MAX: no limit. In
 *	the ring, newer data from @bound on take the places of older data. These
 *	were posted on the old link. Now they are written again, or they were
 *	posted on an earlier link, too (@twice of struct smcr_fo). A delayed
 *	packet of the old link could overwrite the newer data with the older
 *	data. The limit holds as long as the peer may accept such a
 *	packet. There is no limit if each such packet has arrived, or no data
 *	follow
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
 * smcr_fo_valid() - have all data up to the failover point arrived? (FO-08)
 * @seq: sequence number in the peer's CDC with F, the RFC's SS
 * @last: sequence number of the last CDC received and processed, the RFC's SR
 *
 * Return: false if data were lost, so that the connection has to be reset.
 */
static inline bool smcr_fo_valid(u16 seq, u16 last)
{
	return !smcr_seq_after(seq, last);
}

#endif /* _SMCR_CORE_FAILOVER_H */
