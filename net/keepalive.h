/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keepalive of SMC-R connections: RFC 7609 4.5.3, Documentation/keepalive.rst.
 */
#ifndef _SMCR_KEEPALIVE_H
#define _SMCR_KEEPALIVE_H

#include "lgr.h"

struct smcr_sock;

/*
 * struct smcr_keepalive - what the connections of a group want of TEST LINK
 * @left: jiffies until the first of them wants one, 0 now, LONG_MAX none does
 * @intvl: its TCP_KEEPINTVL in jiffies, 0 while its time has not come
 * @cnt: its TCP_KEEPCNT
 */
struct smcr_keepalive {
	long left;
	long intvl;
	int cnt;
};

void smcr_keepalive_start(struct smcr_sock *ssk);
void smcr_keepalive_changed(struct smcr_sock *ssk);
void smcr_keepalive_floor(struct smcr_sock *ssk, int idle);

void smcr_keepalive_due(struct smcr_lgr *lgr, struct smcr_keepalive *ka);

#endif /* _SMCR_KEEPALIVE_H */
