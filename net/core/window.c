// SPDX-License-Identifier: GPL-2.0-only
/* Send planning and window updates, RFC 7609 4.5.1, 4.7. See window.h. */
#include "env.h"
#include "window.h"

/**
 * smcr_tx_plan() - plan the next RDMA writes of a connection
 * @ring: geometry of the peer's element
 * @prod: position of the next byte to write into that element
 * @cons_abs: absolute position up to which the peer has consumed, as announced
 * @unsent: bytes in the local send buffer that were not written yet
 * @max: upper bound of one plan (send queue, SGEs)
 * @out: the plan; len 0 when nothing can be sent
 *
 * The window is the capacity less what the peer has not consumed. A plan is
 * never larger than the window (CDC-16). It is empty if the window is smaller
 * than each of @unsent, SMCR_TX_SWS_MIN and an eighth of the ring.
 * @out->blocked is true exactly when the window, not @max, stops data from
 * being sent.
 */
void smcr_tx_plan(const struct smcr_ring *ring, const struct smcr_pos *prod,
		  u64 cons_abs, u64 unsent, u32 max, struct smcr_tx_plan *out)
{
	u32 cap = smcr_ring_cap(ring);
	u64 used = prod->abs - cons_abs;
	u32 to_end = cap - prod->off;
	u32 space, n;
	bool silly;

	/* used > cap is impossible: smcr_pos_apply() refuses such cursors */
	space = used < cap ? cap - (u32)used : 0;
	/*
	 * Data held back here do not wait for ever: out->blocked is set, so B
	 * is sent, and the peer announces everything that it consumes (CDC-26).
	 */
	silly = unsent > space && space < min(cap / 8, SMCR_TX_SWS_MIN);
	n = silly ? 0 : min(space, max);
	if (unsent < n)
		n = (u32)unsent;

	memset(out, 0, sizeof(*out));
	out->blocked = silly || (n == space && unsent > n);
	out->len = n;
	if (!n)
		return;

	out->seg[0].dst = ring->base + prod->off;
	out->seg[0].len = min(n, to_end);
	out->n_seg = 1;
	if (n > to_end) {
		out->seg[1].dst = ring->base;
		out->seg[1].len = n - to_end;
		out->n_seg = 2;
	}
}

/**
 * smcr_rx_update_due() - must a CDC be sent just for the consumer cursor?
 * @win: state of the receiving side
 *
 * The gain is what was consumed since the last announcement. Without a gain no
 * CDC is due. A CDC is due if the window that the peer sees is below half of
 * the buffer, and the gain is at least a tenth of the buffer (CDC-24). Any gain
 * is enough while the peer is blocked (CDC-26), or if it has asked for an
 * update (CDC-27, CDC-37).
 *
 * To be called each time that something was consumed, and when a CDC with B or
 * R arrives: a gain that was too small before this CDC may then be enough.
 *
 * Return: true if it must.
 */
bool smcr_rx_update_due(const struct smcr_rx_window *win)
{
	u64 gain = win->cons_abs - win->announced_abs;
	u64 used = win->prod_abs - win->announced_abs;
	u64 space = used < win->cap ? win->cap - used : 0;

	if (!gain)
		return false;
	if (win->peer_blocked || win->peer_asks)
		return true;
	return 2 * space < win->cap && 10 * gain >= win->cap;
}
