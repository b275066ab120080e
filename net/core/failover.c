// SPDX-License-Identifier: GPL-2.0-only
/* Failover, RFC 7609 4.6. See failover.h. */
#include "env.h"
#include "failover.h"

/**
 * smcr_fo_done() - the send of a CDC has completed without error (FO-04)
 * @fo: failover point, advanced if the CDC is newer
 * @seq: sequence number of the CDC
 * @abs: producer position of the CDC
 */
void smcr_fo_done(struct smcr_fo *fo, u16 seq, u64 abs)
{
	if (!smcr_seq_after(seq, fo->seq))
		return;
	fo->seq = seq;
	fo->abs = abs;
}

/**
 * smcr_fo_plan() - move a connection to another link
 * @fo: failover point, updated
 * @ring: the peer's element
 * @facts: state of the connection
 * @plan: filled
 *
 * Data that the peer has read are not written again, even if their completion
 * is missing: their place in the ring may hold newer data. Such data set no
 * limit (@plan->bound), except data that were posted twice: the peer may have
 * read the copy of an earlier link, while the copy of the old link is still
 * held up in the network. After A was posted, no data are written again. A may
 * have arrived, and when both sides have sent A, the peer may give the element
 * to another connection (RMB-22).
 */
void smcr_fo_plan(struct smcr_fo *fo, const struct smcr_ring *ring,
		  const struct smcr_fo_facts *facts, struct smcr_fo_plan *plan)
{
	u64 from, twice;

	/*
	 * Not every CDC is signalled, so the last ones may have no completion.
	 * But if the link has drained, all posts on it have arrived. The
	 * earlier posts have arrived, too, except if something that was lost
	 * with an earlier link is not posted again yet (behind).
	 */
	if (facts->drained && !facts->behind)
		smcr_fo_done(fo, facts->seq, facts->prod.abs);
	from = max(fo->abs, facts->cons.abs);
	plan->redo = facts->seq != fo->seq;
	plan->prod = facts->prod;
	plan->bound = U64_MAX;
	/*
	 * If our C or A has arrived, no validation is sent: the peer has
	 * released the connection (CDC-44).
	 */
	plan->validate = plan->redo || !facts->closed;
	plan->seq = fo->seq;
	if (facts->aborted)
		return;
	twice = max(fo->abs, fo->twice);
	if (twice < fo->twice_end)
		plan->bound = twice + smcr_ring_cap(ring);
	fo->twice = from;
	fo->twice_end = facts->prod.abs;
	if (from >= facts->prod.abs)
		return;
	/*
	 * smcr_pos_add() can add the capacity of the ring at most. That is
	 * enough: @from is before our producer position, which is ahead of the
	 * peer's consumer cursor by the capacity at most.
	 */
	plan->prod = facts->cons;
	smcr_pos_add(ring, &plan->prod, (u32)(from - facts->cons.abs));
	plan->bound = min(plan->bound, from + smcr_ring_cap(ring));
}
