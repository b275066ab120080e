/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Urgent data, RFC 7609 4.7.5, 4.7.6.
 *
 * The last byte of an urgent send is the urgent byte. The sender sets P as long
 * as the byte is not written, and P and U when it is written. Then it writes
 * nothing behind the byte until the peer's consumer cursor has passed the byte.
 * As on TCP, a read stops before the byte, whose position is the mark. All
 * positions count bytes since the start of the stream.
 *
 * A receiver has two positions. cons is the position of its reader. The next
 * CDC announces the ackable position as consumer cursor. Between the two there
 * are only urgent bytes that the reader has not passed yet, and will skip.
 */
#ifndef _SMCR_CORE_URGENT_H
#define _SMCR_CORE_URGENT_H

#include "env.h"
#include "proto.h"

/* Sender; all zero at the start */
struct smcr_urg_tx {
	u64 end;		/* one behind the newest urgent byte not announced by U, 0 none */
	u64 announced;		/* one behind the byte announced by U and not consumed, 0 none */
	bool p_sent;		/* P was sent for @end */
};

enum smcr_urg_state {
	SMCR_URG_NONE,
	SMCR_URG_PENDING,	/* P without U: the urgent byte has not arrived */
	SMCR_URG_PRESENT,	/* the byte has arrived; the reader is at the mark or before it */
	SMCR_URG_READ,		/* as PRESENT, but received out of band */
};

/* Receiver; all zero at the start */
struct smcr_urg_rx {
	u64 mark;		/* position of the urgent byte; in PRESENT and READ */
	u64 seen_u;		/* producer position of the newest U; 0 none */
	u64 seen_p;		/* producer position of the newest P without U, plus 1; 0 none */
	u8 state;		/* enum smcr_urg_state */
	u8 byte;		/* the urgent byte, in PRESENT and READ */
};

/* What smcr_urg_rx_flags() found */
enum {
	SMCR_URG_EV_NEWS	= 1 << 0,	/* notify: SIGURG */
	SMCR_URG_EV_BYTE	= 1 << 1,	/* @mark is new: copy the byte there to @byte */
};

void smcr_urg_tx_queue(struct smcr_urg_tx *urg, u64 queued);
void smcr_urg_tx_acked(struct smcr_urg_tx *urg, u64 cons);
u64 smcr_urg_tx_may(const struct smcr_urg_tx *urg, u64 prod, u64 unsent);
bool smcr_urg_tx_due(const struct smcr_urg_tx *urg, u64 prod);
u8 smcr_urg_tx_flags(const struct smcr_urg_tx *urg, u64 prod);
void smcr_urg_tx_sent(struct smcr_urg_tx *urg, u64 prod, u64 cons);

int smcr_urg_rx_flags(struct smcr_urg_rx *urg, u8 pflags, u64 prod, u64 ackable);
bool smcr_urg_rx_settle(struct smcr_urg_rx *urg, u64 cons, u64 ackable,
			bool inlined);
bool smcr_urg_rx_owed(const struct smcr_urg_rx *urg, u64 announced, u64 ackable);
u64 smcr_urg_rx_run(const struct smcr_urg_rx *urg, u64 pos, u64 ackable);
u64 smcr_urg_rx_ahead(const struct smcr_urg_rx *urg, u64 prod, u64 ackable,
		      bool inlined);
bool smcr_urg_rx_at_mark(const struct smcr_urg_rx *urg, u64 ackable);

/*
 * Update after unread data were dropped. If the urgent byte among them was not
 * received out of band, it counts as pending, as on TCP.
 */
static inline void smcr_urg_rx_lost(struct smcr_urg_rx *urg)
{
	SMCR_SET(urg->state, urg->state == SMCR_URG_PRESENT ?
			     SMCR_URG_PENDING : SMCR_URG_NONE);
}

/* Is the reader before, or at, a known mark? */
static inline bool smcr_urg_rx_marked(const struct smcr_urg_rx *urg)
{
	return urg->state >= SMCR_URG_PRESENT;
}

#endif /* _SMCR_CORE_URGENT_H */
