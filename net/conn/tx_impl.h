/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the sending side have in common; for nobody else. */
#ifndef _SMCR_TX_IMPL_H
#define _SMCR_TX_IMPL_H

#include "conn/conn.h"

/* Bytes of a post, and what has to fit beside a larger one; see smcr_tx_part() */
#define SMCR_TX_POST		(64 * 1024)
#define SMCR_TX_BESIDE		(256 * 1024)

/* In pend->flags, where a CDC has no flag: smcr_tx_barrier() */
#define SMCR_TX_BARRIER		0x01

/*
 * pend->flags: cflags of the CDC or SMCR_TX_BARRIER, conn->tx.attempt, and the number of
 * the last CDC that has arrived when the post completes
 */
static inline u32 smcr_tx_pend_flags(const struct smcr_conn *conn, u8 low,
				     u16 seq)
{
	return low | (u32)conn->tx.attempt << 8 | (u32)seq << 16;
}

/*
 * Not of an earlier connection of the socket, of which nothing is true of this one?
 * The link does not tell: it is the same for the next connection to the same peer.
 */
static inline bool smcr_tx_pend_ours(const struct smcr_conn *conn,
				     const struct smcr_tx_pend *pend)
{
	return (u8)(pend->flags >> 8) == conn->tx.attempt;
}

/* tx.c */
bool smcr_tx_parked(const struct smcr_conn *conn);
u32 smcr_tx_part(const struct smcr_conn *conn);
/* tx_limit.c */
void smcr_tx_space(struct smcr_conn *conn);
bool smcr_tx_roomy(const struct smcr_conn *conn);
void smcr_tx_pushed(struct smcr_conn *conn);

#endif /* _SMCR_TX_IMPL_H */
