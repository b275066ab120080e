/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keepalive of SMC-R connections: RFC 7609 4.5.3, Documentation/keepalive.rst.
 */
#ifndef _SMCR_KEEPALIVE_H
#define _SMCR_KEEPALIVE_H

#include "lgr/llc_test.h"

struct smcr_sock;

void smcr_keepalive_start(struct smcr_sock *ssk);
void smcr_keepalive_changed(struct smcr_sock *ssk);
void smcr_keepalive_floor(struct smcr_sock *ssk, int idle);

void smcr_keepalive_due(struct smcr_link *link, struct smcr_keepalive *ka);

#endif /* _SMCR_KEEPALIVE_H */
