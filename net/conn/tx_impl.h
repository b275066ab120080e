/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the sending side have in common; for nobody else. */
#ifndef _SMCR_TX_IMPL_H
#define _SMCR_TX_IMPL_H

#include "conn/conn.h"

/* Bytes of a post, and what has to fit beside a larger one; see smcr_tx_part() */
#define SMCR_TX_POST		(64 * 1024)
#define SMCR_TX_BESIDE		(256 * 1024)

/* tx.c */
u32 smcr_tx_part(const struct smcr_conn *conn);
void smcr_tx_space(struct smcr_conn *conn);

#endif /* _SMCR_TX_IMPL_H */
