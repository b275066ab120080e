// SPDX-License-Identifier: GPL-2.0-only
/* Send planning and window updates, RFC 7609 4.5.1, 4.7. See window.h. */
#include "env.h"
#include "window.h"

void smcr_tx_plan(const struct smcr_ring *ring, const struct smcr_pos *prod,
		  u64 cons_abs, u64 unsent, u32 max, struct smcr_tx_plan *out)
{
	u32 cap = smcr_ring_cap(ring);
	u64 used = prod->abs - cons_abs;
	u32 to_end = cap - prod->off;
	u32 space, n;
	bool silly;

	/* used > cap cannot be: smcr_pos_apply() let no such cursor in */
	space = used < cap ? cap - (u32)used : 0;
	/* the reader sees B and announces more room (CDC-26) */
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
