/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of LLC have in common; for nobody else. */
#ifndef _SMCR_LLC_IMPL_H
#define _SMCR_LLC_IMPL_H

#include "lgr/kllc.h"

/* Messages a peer may have queued; a conforming one never has more than a few */
#define SMCR_LLC_QUEUE_MAX	32

/* llc_send.c */
void smcr_llc_fail(struct smcr_lgr *lgr, enum smcr_reason why);
void smcr_llc_reply(struct smcr_lgr *lgr, const struct smcr_llc *msg);
void smcr_llc_out_work(struct work_struct *work);

/* llc_test.c */
void smcr_llc_reply_test(struct smcr_lgr *lgr, struct smcr_llc *msg);
void smcr_llc_got_test_reply(struct smcr_lgr *lgr, const struct smcr_llc *msg);
void smcr_llc_test_work(struct work_struct *work);

#endif /* _SMCR_LLC_IMPL_H */
