/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of the send path: when queued data are written, how much in one post,
 * and which posts are signalled (RFC 7609 4.5.2, 4.7). All is inline, as it is
 * part of each message.
 */
#ifndef _SMCR_CORE_TX_RULES_H
#define _SMCR_CORE_TX_RULES_H

#include "window.h"

/* Bytes of a post; bytes of ring and send buffer that a larger post leaves: smcr_tx_part() */
#define SMCR_TX_POST		(64 * 1024)
#define SMCR_TX_BESIDE		(256 * 1024)

/*
 * While a signalled post is pending, nothing is posted before so many bytes are unsent, so
 * that a post is worth its completion. Data on an idle connection never wait.
 */
#define SMCR_TX_GATHER		(16 * 1024)

/**
 * struct smcr_tx_facts - what the next post depends on
 * @size: bytes of the send buffer
 * @unsent: queued bytes that no post has written
 * @may: bytes of @unsent that urgent data and a move allow to be written
 * @unsignalled: bytes posted since the last signalled post
 * @max: maximum number of bytes of one post, by its SGEs
 * @pending: the completion of a signalled post is pending
 * @urgent: there are urgent data, which do not wait
 * @flush: all data are to be delivered, and a completion is to report that
 * @more: MSG_MORE: the last data wait for more
 * @nodelay: TCP_NODELAY: small data do not wait (CDC-22)
 * @last: no further post follows before a completion
 */
struct smcr_tx_facts {
	u32 size;
	u64 unsent;
	u64 may;
	u64 unsignalled;
	u32 max;
	bool pending;
	bool urgent;
	bool flush;
	bool more;
	bool nodelay;
	bool last;
};

enum smcr_tx_do {
	SMCR_TX_HOLD,		/* post nothing: a completion or the peer's cursor follows */
	SMCR_TX_BLOCKED,	/* no window: announce B (CDC-33, CDC-39) */
	SMCR_TX_WRITE,		/* post the plan */
	SMCR_TX_WRITE_SIGNAL,	/* post the plan, signalled */
};

static inline u32 smcr_tx_gather_max(u32 size)
{
	return min_t(u32, SMCR_TX_GATHER, size / 2);
}

/* While a completion is pending, nothing is posted before so many bytes are unsent */
static inline u32 smcr_tx_gather(const struct smcr_tx_facts *facts)
{
	if (facts->more)
		return min_t(u32, SMCR_TX_POST, facts->size / 2);
	return facts->nodelay ? 0 : smcr_tx_gather_max(facts->size);
}

static inline bool smcr_tx_holds(const struct smcr_tx_facts *facts)
{
	return facts->pending && !facts->flush && !facts->urgent &&
	       facts->unsent < smcr_tx_gather(facts);
}

/*
 * Later data may wait for a completion. So signal a post if it fills the window, or if half
 * of smcr_tx_gather_max() was posted since the last signalled post. A flush needs the
 * completion of the last byte.
 */
static inline bool smcr_tx_signals(const struct smcr_tx_facts *facts,
				   const struct smcr_tx_plan *plan)
{
	return facts->last || plan->blocked ||
	       (facts->flush && plan->len == facts->unsent) ||
	       facts->unsignalled + plan->len >= smcr_tx_gather_max(facts->size) / 2;
}

/**
 * smcr_tx_part() - maximum number of bytes of one post
 * @cap: capacity of the peer's ring
 * @size: bytes of the send buffer
 *
 * Each post costs both hosts some packets and wake-ups, but the peer should read
 * the data of one post while the next posts arrive. So a post is as large as
 * possible, but leaves SMCR_TX_BESIDE bytes of the ring and of the send buffer
 * for the next posts. If one of them is too small for that, the maximum is
 * SMCR_TX_POST.
 *
 * Return: bytes.
 */
static inline u32 smcr_tx_part(u32 cap, u32 size)
{
	return max_t(u32, SMCR_TX_POST + SMCR_TX_BESIDE, min(cap, size)) -
	       SMCR_TX_BESIDE;
}

/**
 * smcr_tx_next() - decide about the next post of data
 * @facts: state of the send side; @facts->unsent is not 0
 * @ring: geometry of the peer's element
 * @prod: position of the next byte to write into that element
 * @cons_abs: absolute position up to which the peer has consumed, as announced
 * @plan: filled, unless the result is SMCR_TX_HOLD
 *
 * Called again after each post, completion and cursor of the peer. Data are
 * never held for ever: the post that they wait for is signalled, or the peer
 * announces its consumption after B.
 *
 * Return: what to do now.
 */
static inline enum smcr_tx_do
smcr_tx_next(const struct smcr_tx_facts *facts, const struct smcr_ring *ring,
	     const struct smcr_pos *prod, u64 cons_abs,
	     struct smcr_tx_plan *plan)
{
	if (!facts->may || smcr_tx_holds(facts))
		return SMCR_TX_HOLD;
	smcr_tx_plan(ring, prod, cons_abs, facts->may,
		     min(facts->max, smcr_tx_part(smcr_ring_cap(ring), facts->size)),
		     plan);
	if (!plan->len)
		return SMCR_TX_BLOCKED;
	return smcr_tx_signals(facts, plan) ? SMCR_TX_WRITE_SIGNAL : SMCR_TX_WRITE;
}

#endif /* _SMCR_CORE_TX_RULES_H */
