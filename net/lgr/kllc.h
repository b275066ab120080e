/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LLC in the kernel: receiving, answering, and the waits of first contact.
 */
#ifndef _SMCR_KLLC_H
#define _SMCR_KLLC_H

#include "base/base.h"
#include "lgr/lgr.h"

void smcr_llc_init(struct smcr_lgr *lgr);
void smcr_llc_rx(struct smcr_link *link, const u8 *buf);
void smcr_llc_start(struct smcr_lgr *lgr);
void smcr_llc_probe(struct smcr_lgr *lgr);
void smcr_llc_verify(struct smcr_lgr *lgr);
void smcr_llc_look(struct smcr_lgr *lgr);
void smcr_llc_stop(struct smcr_lgr *lgr);
int smcr_llc_send(struct smcr_lgr *lgr, const struct smcr_llc *msg);
int smcr_llc_post(struct smcr_lgr *lgr, const struct smcr_llc *msg,
		  void (*done)(struct smcr_tx_pend *pend, bool ok), void *arg,
		  u64 mark);
void smcr_llc_expect(struct smcr_lgr *lgr, u8 xchg, u8 type, bool reply);
bool smcr_llc_answered(const struct smcr_lgr *lgr);
int smcr_llc_wait(struct smcr_lgr *lgr, struct smcr_llc *out, unsigned int ms);
int smcr_llc_confirm_rkey(struct smcr_lgr *lgr, u32 rkey, u64 va);
int smcr_llc_delete_rkey(struct smcr_lgr *lgr, u32 rkey);
void smcr_llc_reject_add_link(struct smcr_lgr *lgr,
			      const struct smcr_llc_add_link *req,
			      struct smcr_llc *no);
void smcr_llc_done(struct smcr_lgr *lgr);

#endif /* _SMCR_KLLC_H */
