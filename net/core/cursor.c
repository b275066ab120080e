// SPDX-License-Identifier: GPL-2.0-only
/* Ring positions and wire cursors, RFC 7609 4.3, 4.7, A.4. See cursor.h. */
#include "cursor.h"
#include "env.h"

/**
 * smcr_pos_add() - advance a position
 * @ring: geometry
 * @pos: position
 * @n: number of bytes, 0 to the capacity
 */
void smcr_pos_add(const struct smcr_ring *ring, struct smcr_pos *pos, u32 n)
{
	u32 to_end = smcr_ring_cap(ring) - pos->off;

	SMCR_SET(pos->abs, pos->abs + n);
	if (n < to_end) {
		SMCR_SET(pos->off, pos->off + n);
	} else {
		SMCR_SET(pos->off, n - to_end);
		pos->wrap++;
	}
}

/**
 * smcr_pos_cursor() - convert a position to the wire format
 * @ring: geometry
 * @pos: position
 *
 * Return: cursor whose count is in [base, size).
 */
struct smcr_cursor smcr_pos_cursor(const struct smcr_ring *ring,
				   const struct smcr_pos *pos)
{
	struct smcr_cursor cur = {
		.wrap = pos->wrap,
		.count = ring->base + pos->off,
	};

	return cur;
}

/**
 * smcr_pos_apply() - advance a position to a cursor that the peer sent
 * @ring: geometry that the cursor refers to
 * @pos: last known position, advanced on success, untouched on error
 * @cur: cursor from the wire
 * @limit: highest absolute position that is possible now
 *
 * All cursors of the peer are checked here before they become positions.
 * Nothing is clamped: a cursor outside the element, behind @pos or beyond
 * @limit is refused (CDC-19).
 *
 * Return: bytes advanced (0..capacity), or -ERANGE for a count outside the
 * element, or -EPROTO for an impossible position.
 */
int smcr_pos_apply(const struct smcr_ring *ring, struct smcr_pos *pos,
		   struct smcr_cursor cur, u64 limit)
{
	u32 off, n;

	if (cur.count < ring->base || cur.count >= ring->size)
		return -ERANGE;
	off = cur.count - ring->base;

	if (cur.wrap == pos->wrap) {
		if (off < pos->off)
			return -EPROTO;
		n = off - pos->off;
	} else if (cur.wrap == (u16)(pos->wrap + 1)) {
		/* one wrap and a larger offset would be more than a ring */
		if (off > pos->off)
			return -EPROTO;
		n = smcr_ring_cap(ring) - pos->off + off;
	} else {
		return -EPROTO;
	}
	if (limit < pos->abs || n > limit - pos->abs)
		return -EPROTO;

	pos->abs += n;
	pos->off = off;
	pos->wrap = cur.wrap;
	return (int)n;
}

/**
 * smcr_pos_behind() - is a cursor behind a position, by a ring at most?
 * @ring: geometry that the cursor refers to
 * @pos: last known position
 * @cur: cursor from the wire
 *
 * Return: true if @cur stands for a position before @pos, by a ring at most,
 * and not before the start of the connection.
 */
bool smcr_pos_behind(const struct smcr_ring *ring, const struct smcr_pos *pos,
		     struct smcr_cursor cur)
{
	u32 off, back;

	if (cur.count < ring->base || cur.count >= ring->size)
		return false;
	off = cur.count - ring->base;
	if (cur.wrap == pos->wrap && off < pos->off)
		back = pos->off - off;
	else if ((u16)(cur.wrap + 1) == pos->wrap && off >= pos->off)
		back = smcr_ring_cap(ring) - off + pos->off;
	else
		return false;
	return back <= pos->abs;
}
