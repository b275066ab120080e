/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send planning and window updates, RFC 7609 4.5.1, 4.7.
 */
#ifndef _SMCR_CORE_WINDOW_H
#define _SMCR_CORE_WINDOW_H

#include "cursor.h"
#include "env.h"
#include "proto.h"

/*
 * Silly-window avoidance: data that do not fit in the window wait until it has
 * at least this size, or an eighth of the ring if that is less. Otherwise a
 * slow reader and a fast writer would exchange small segments, each of which
 * costs a message and a completion.
 */
#define SMCR_TX_SWS_MIN	8192U

/* What may be written into the peer's element now */
struct smcr_tx_seg {
	u32 dst;		/* offset in the element, base included */
	u32 len;
};

struct smcr_tx_plan {
	u32 len;		/* sum of the segments */
	u8 n_seg;		/* 0..2; 2 when the ring wraps (CDC-17) */
	struct smcr_tx_seg seg[2];
	bool blocked;		/* B: the window has no room for the rest */
};

void smcr_tx_plan(const struct smcr_ring *ring, const struct smcr_pos *prod,
		  u64 cons_abs, u64 unsent, u32 max, struct smcr_tx_plan *out);

/* Facts on which the receiver decides about a window update */
struct smcr_rx_window {
	u32 cap;		/* capacity of the own element */
	u64 prod_abs;		/* last producer position from the peer */
	u64 cons_abs;		/* consumed by the application */
	u64 announced_abs;	/* consumer position in the last CDC sent */
	bool peer_blocked;	/* B in the peer's last CDC */
	bool peer_asks;		/* R in the peer's last CDC, or smcr_urg_rx_owed() */
};

bool smcr_rx_update_due(const struct smcr_rx_window *win);

#endif /* _SMCR_CORE_WINDOW_H */
