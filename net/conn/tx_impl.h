/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of the send path share; for no other file. */
#ifndef _SMCR_TX_IMPL_H
#define _SMCR_TX_IMPL_H

#include "core/tx_rules.h"
#include "conn/conn.h"

/* Bit of pend->flags, no flag of CDC: smcr_tx_barrier() has made the post */
#define SMCR_TX_BARRIER		0x01

/*
 * pend->flags: cflags of the CDC or SMCR_TX_BARRIER, conn->tx.attempt, and the sequence
 * number of the last CDC that has arrived when the post completes
 */
static inline u32 smcr_tx_pend_flags(const struct smcr_conn *conn, u8 low,
				     u16 seq)
{
	return low | (u32)conn->tx.attempt << 8 | (u32)seq << 16;
}

/*
 * False for a post of an earlier connection of the socket, which must not count for this
 * one. Comparing the links is not enough: the next connection to the same peer may be on
 * the same link.
 */
static inline bool smcr_tx_pend_ours(const struct smcr_conn *conn,
				     const struct smcr_tx_pend *pend)
{
	return (u8)(pend->flags >> 8) == conn->tx.attempt;
}

/* tx.c */
bool smcr_tx_parked(const struct smcr_conn *conn);
u32 smcr_tx_span(const struct smcr_conn *conn, u64 pos);
struct smcr_buf *smcr_tx_buf_at(const struct smcr_conn *conn, u64 pos);
u32 smcr_tx_writes(struct smcr_conn *conn, const struct smcr_tx_plan *plan,
		   const struct smcr_buf *buf, u32 src, struct ib_rdma_wr w[2],
		   struct ib_sge sge[2][SMCR_MAX_SGE]);
int smcr_tx_link_post(struct smcr_conn *conn, struct ib_rdma_wr *w, int n_w,
		      const u8 *msg, bool signal, u64 mark, u32 flags);
int smcr_tx_post(struct smcr_conn *conn, struct ib_rdma_wr *w, int n_w,
		 const struct smcr_pos *prod, bool blocked, bool signal);
/* tx_move.c */
int smcr_tx_catch_up(struct smcr_conn *conn, int *left);
int smcr_tx_barrier(struct smcr_conn *conn);
/* tx_timeout.c */
void smcr_tx_watch(struct smcr_conn *conn);
/* tx_send.c */
void smcr_tx_space(struct smcr_conn *conn);
void smcr_tx_pushed(struct smcr_conn *conn);

#endif /* _SMCR_TX_IMPL_H */
