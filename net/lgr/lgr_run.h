/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of the work that runs a group's state machine (core/lgr_fsm.h): messages,
 * requests, TEST LINK. Only that work sends LLC messages, except TEST LINK.
 */
#ifndef _SMCR_LGR_RUN_H
#define _SMCR_LGR_RUN_H

#include "base/base.h"
#include "lgr/lgr.h"

/* lgr_run.c */
void smcr_lgr_run_init(struct smcr_lgr *lgr);
void smcr_lgr_run_stop(struct smcr_lgr *lgr);
void smcr_lgr_run_free(struct smcr_lgr *lgr);
void smcr_llc_rx(struct smcr_link *link, const u8 *buf);

/* lgr_rkey.c */
void smcr_lgr_post_first(struct smcr_lgr *lgr);
bool smcr_lgr_settled(const struct smcr_lgr *lgr, enum smcr_first_res *res,
		      enum smcr_reason *why);
int smcr_lgr_confirm_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb);
int smcr_lgr_delete_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb);

/* llc_test.c */
void smcr_llc_start(struct smcr_lgr *lgr);
void smcr_llc_test_soon(struct smcr_lgr *lgr);
void smcr_llc_test_now(struct smcr_lgr *lgr);
void smcr_llc_test_update(struct smcr_lgr *lgr);

#endif /* _SMCR_LGR_RUN_H */
