// SPDX-License-Identifier: GPL-2.0-only
/* Urgent data, RFC 7609 4.7.5, 4.7.6. See urgent.h. */
#include "env.h"
#include "urgent.h"

/**
 * smcr_urg_tx_queue() - an urgent byte was queued
 * @urg: sender
 * @queued: position one behind the urgent byte
 *
 * As on TCP there is one urgent pointer: a new urgent byte replaces an older
 * one that U has not announced yet. If U has announced the older one, the peer
 * has to acknowledge it before U announces the new one (CDC-41).
 */
void smcr_urg_tx_queue(struct smcr_urg_tx *urg, u64 queued)
{
	urg->end = queued;
}

/**
 * smcr_urg_tx_acked() - the peer's consumer cursor moved
 * @urg: sender
 * @cons: position of the cursor
 */
void smcr_urg_tx_acked(struct smcr_urg_tx *urg, u64 cons)
{
	if (cons >= urg->announced)
		urg->announced = 0;
}

/**
 * smcr_urg_tx_may() - how much of what is queued may be written?
 * @urg: sender
 * @prod: position of the next byte to write
 * @unsent: bytes that are queued
 *
 * Nothing is written behind an announced urgent byte before the peer has
 * consumed this byte (CDC-36). Nothing is written beyond the next urgent byte,
 * so that the producer cursor of the CDC can point just behind it (CDC-34).
 *
 * Return: number of bytes.
 */
u64 smcr_urg_tx_may(const struct smcr_urg_tx *urg, u64 prod, u64 unsent)
{
	if (urg->announced)
		return 0;
	return urg->end > prod ? min(urg->end - prod, unsent) : unsent;
}

/**
 * smcr_urg_tx_due() - is a CDC due although no data can be written?
 * @urg: sender
 * @prod: position of the next byte to write
 *
 * If the window is closed for urgent data, P is sent before them (CDC-39). If a
 * send ends before all its bytes are queued, the last queued byte becomes
 * urgent. This byte may have been written already, as an ordinary byte. Then a
 * CDC with U follows, without data.
 */
bool smcr_urg_tx_due(const struct smcr_urg_tx *urg, u64 prod)
{
	return urg->end && !urg->announced && (!urg->p_sent || urg->end == prod);
}

/**
 * smcr_urg_tx_flags() - producer flags of a CDC
 * @urg: sender
 * @prod: producer position of the CDC
 *
 * Return: SMCR_CDC_P until the peer has consumed the urgent byte, and
 * SMCR_CDC_U, too, when the producer cursor is one behind this byte.
 */
u8 smcr_urg_tx_flags(const struct smcr_urg_tx *urg, u64 prod)
{
	if (urg->announced || (urg->end && urg->end == prod))
		return SMCR_CDC_P | SMCR_CDC_U;
	return urg->end ? SMCR_CDC_P : 0;
}

/**
 * smcr_urg_tx_sent() - a CDC with smcr_urg_tx_flags() was posted
 * @urg: sender
 * @prod: producer position of the CDC
 * @cons: the peer's consumer position
 *
 * If the peer has consumed a byte before this byte becomes urgent, the byte
 * counts as acknowledged: the peer will send no further update for it.
 */
void smcr_urg_tx_sent(struct smcr_urg_tx *urg, u64 prod, u64 cons)
{
	if (urg->announced)
		return;
	urg->p_sent = urg->end && urg->end != prod;
	if (urg->end == prod) {
		urg->announced = prod;
		urg->end = 0;
		smcr_urg_tx_acked(urg, cons);
	}
}

/* Process U: the byte before the producer position is urgent */
static int urg_rx_present(struct smcr_urg_rx *urg, u64 prod, u64 ackable)
{
	bool pending = urg->state == SMCR_URG_PENDING;

	if (prod == urg->seen_u)	/* repeated: no new event (CDC-42) */
		return 0;
	urg->seen_u = prod;
	if (prod <= ackable) {		/* U came after the byte was read */
		if (pending)
			SMCR_SET(urg->state, SMCR_URG_NONE);
		return 0;
	}
	SMCR_SET(urg->state, SMCR_URG_PRESENT);
	urg->mark = prod - 1;
	return SMCR_URG_EV_BYTE | (pending ? 0 : SMCR_URG_EV_NEWS);
}

/**
 * smcr_urg_rx_flags() - process the urgent flags of a CDC
 * @urg: receiver
 * @pflags: producer flags of the CDC
 * @prod: producer position of the CDC, which has been checked
 * @ackable: consumer position for the next CDC, see urgent.h
 *
 * A P or U that is repeated with the same producer position is no new event
 * (CDC-42, reading I-24). So a mark never moves back, and the application is
 * not notified again if the peer clears the flag and sets it once more. As on
 * TCP a new urgent byte replaces the one before, read or not.
 *
 * Return: SMCR_URG_EV_*, or -EPROTO for U before the first byte of data.
 */
int smcr_urg_rx_flags(struct smcr_urg_rx *urg, u8 pflags, u64 prod, u64 ackable)
{
	bool pending = urg->state == SMCR_URG_PENDING;

	if (pflags & SMCR_CDC_U)
		return prod ? urg_rx_present(urg, prod, ackable) : -EPROTO;
	if (!(pflags & SMCR_CDC_P)) {
		if (pending)
			SMCR_SET(urg->state, SMCR_URG_NONE);
		return 0;
	}
	if (pending || urg->seen_p == prod + 1)
		return 0;
	urg->seen_p = prod + 1;
	SMCR_SET(urg->state, SMCR_URG_PENDING);
	return SMCR_URG_EV_NEWS;
}

/**
 * smcr_urg_rx_settle() - update after the reader or the mark has moved
 * @urg: receiver
 * @cons: position of the reader
 * @ackable: as in smcr_urg_rx_flags()
 * @inlined: SO_OOBINLINE
 *
 * A reader at the mark will skip the urgent byte, of which @urg has a copy. So
 * the byte is announced as consumed while the reader is still at the mark
 * (CDC-37). Before this update the peer writes nothing behind the byte, while
 * the application may be waiting, at the mark, for data behind it.
 *
 * Return: true if @ackable has to move on by one.
 */
bool smcr_urg_rx_settle(struct smcr_urg_rx *urg, u64 cons, u64 ackable,
			bool inlined)
{
	if (!smcr_urg_rx_marked(urg))
		return false;
	if (cons > urg->mark) {
		SMCR_SET(urg->state, SMCR_URG_NONE);
		return false;
	}
	return !inlined && urg->mark == ackable;
}

/**
 * smcr_urg_rx_owed() - does the peer wait for an update that is not sent yet?
 * @urg: receiver
 * @announced: consumer position in the last CDC
 * @ackable: consumer position of the next CDC
 *
 * The peer writes nothing behind an urgent byte before it has received this
 * update (CDC-37), even if its later CDCs have neither P nor U.
 */
bool smcr_urg_rx_owed(const struct smcr_urg_rx *urg, u64 announced, u64 ackable)
{
	return announced < urg->seen_u && urg->seen_u <= ackable;
}

/**
 * smcr_urg_rx_run() - how much may be read at once?
 * @urg: receiver
 * @pos: position of the reader, or the one that MSG_PEEK has reached
 * @ackable: as in smcr_urg_rx_flags()
 *
 * Return: bytes before the mark; 0 at the mark, or at an urgent byte that the
 * reader skips; U64_MAX if no mark is ahead.
 */
u64 smcr_urg_rx_run(const struct smcr_urg_rx *urg, u64 pos, u64 ackable)
{
	if (pos < ackable)
		return 0;
	if (smcr_urg_rx_marked(urg) && urg->mark >= pos)
		return urg->mark - pos;
	return U64_MAX;
}

/**
 * smcr_urg_rx_ahead() - bytes that the reader does not skip
 * @urg: receiver
 * @prod: producer position
 * @ackable: as in smcr_urg_rx_flags()
 * @inlined: SO_OOBINLINE
 *
 * As in tcp_poll(), the urgent byte is left out only if it is the next byte.
 *
 * Return: number of bytes.
 */
u64 smcr_urg_rx_ahead(const struct smcr_urg_rx *urg, u64 prod, u64 ackable,
		      bool inlined)
{
	if (inlined && smcr_urg_rx_marked(urg) && urg->mark + 1 == ackable)
		ackable--;
	return prod - ackable;
}

/**
 * smcr_urg_rx_at_mark() - is the reader at the mark? (SIOCATMARK)
 * @urg: receiver
 * @ackable: as in smcr_urg_rx_flags()
 *
 * Return: true if it is.
 */
bool smcr_urg_rx_at_mark(const struct smcr_urg_rx *urg, u64 ackable)
{
	/* bytes between the reader and @ackable are urgent, and will be skipped */
	return smcr_urg_rx_marked(urg) &&
	       (urg->mark == ackable || urg->mark + 1 == ackable);
}
