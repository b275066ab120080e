/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring positions and wire cursors, RFC 7609 4.3, 4.7, A.4 (reading I-07).
 *
 * A position counts bytes since the start of the connection, and never goes
 * backwards. The offset and the wrap number of the wire format are stored and
 * updated with it. So the data path needs no division.
 */
#ifndef _SMCR_CORE_CURSOR_H
#define _SMCR_CORE_CURSOR_H

#include "env.h"
#include "reason.h"

/* Cursor as in a CDC message */
struct smcr_cursor {
	u16 wrap;
	u32 count;
};

/* Geometry of an element: data lie in [base, size) */
struct smcr_ring {
	u32 base;		/* 4 if there is an eye catcher, else 0 */
	u32 size;		/* element length E */
};

struct smcr_pos {
	u64 abs;		/* bytes since the start */
	u32 off;		/* abs modulo capacity: offset from ring.base */
	u16 wrap;		/* number of wraps modulo 2^16 */
};

static inline u32 smcr_ring_cap(const struct smcr_ring *ring)
{
	return ring->size - ring->base;
}

/*
 * Copy a position. During the copy, other threads may read abs and off of @pos
 * without the lock, as during smcr_pos_add().
 */
static inline void smcr_pos_set(struct smcr_pos *pos, const struct smcr_pos *to)
{
	SMCR_SET(pos->abs, to->abs);
	SMCR_SET(pos->off, to->off);
	pos->wrap = to->wrap;
}

void smcr_pos_add(const struct smcr_ring *ring, struct smcr_pos *pos, u32 n);
struct smcr_cursor smcr_pos_cursor(const struct smcr_ring *ring,
				   const struct smcr_pos *pos);
int smcr_pos_apply(const struct smcr_ring *ring, struct smcr_pos *pos,
		   struct smcr_cursor cur, u64 limit);
bool smcr_pos_behind(const struct smcr_ring *ring, const struct smcr_pos *pos,
		     struct smcr_cursor cur);

/* true if sequence number @a is newer than @b, modulo 2^16 (I-06) */
static inline bool smcr_seq_after(u16 a, u16 b)
{
	return (s16)(u16)(a - b) > 0;
}

#endif /* _SMCR_CORE_CURSOR_H */
