/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of a link. */
#ifndef _SMCR_LINK_IMPL_H
#define _SMCR_LINK_IMPL_H

#include "rdma/link.h"

/* One receive; at most a cache line */
struct smcr_rx_wr {
	struct ib_cqe cqe;
	struct ib_sge sge;
	struct ib_recv_wr wr;	/* wr.next: wr of the next entry, in a ring */
};

#define SMCR_TX_SLOT		64	/* bytes for each send WR in tx_buf */
#define SMCR_CQ_SLACK		16	/* spare completion entries */
#define SMCR_HOP_LIMIT		64	/* RoCEv2: the path may have routers */
#define SMCR_RNR_TIMER		5	/* verbs encoding, 60 us */

/* link_state.c */
void smcr_link_lost(struct smcr_link *link);
bool smcr_link_set_state(struct smcr_link *link, u8 st, enum smcr_reason why);
int smcr_link_advance(struct smcr_link *link, u8 st);
void smcr_link_wc_error(struct smcr_link *link, const struct ib_wc *wc);
void smcr_link_wc_order(struct smcr_link *link);
void smcr_link_settle(struct smcr_link *link, atomic_t *count);

/* link_rx.c */
int smcr_link_init_rq(struct smcr_link *link);

/* link_tx.c */
void smcr_link_init_sq(struct smcr_link *link);
void smcr_link_abandon(struct smcr_link *link);

/* link_qp.c */
int smcr_link_create_qp(struct smcr_link *link);
int smcr_link_to_init(struct smcr_link *link);
void smcr_link_modify_err(struct smcr_link *link);
void smcr_link_keep(struct smcr_link *link, struct ib_qp *qp);

#endif /* _SMCR_LINK_IMPL_H */
