/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by hs.c, hs_run.c and hs_sched.c. */
#ifndef _SMCR_HS_IMPL_H
#define _SMCR_HS_IMPL_H

#include "core/hs_turn.h"
#include "hs/hs.h"

/* A client waits this long for the server's Decline before it sends its own */
#define SMCR_HS_CROSS_MS	200

/* hs_sched.c */
enum smcr_turn_act smcr_hs_turn(struct smcr_sock *ssk, enum smcr_turn_ev ev);
bool smcr_hs_stopped(const struct smcr_sock *ssk);
void smcr_hs_arm(struct smcr_sock *ssk, unsigned long until);
int smcr_hs_woken(wait_queue_entry_t *watch, unsigned int mode, int sync,
		  void *key);

/* hs.c */
enum smcr_hs_res smcr_hs_aborted(struct smcr_hs *hs);
enum smcr_hs_res smcr_hs_goto_instead(struct smcr_hs *hs);
bool smcr_hs_tcp_news(struct smcr_hs *hs);

#endif /* _SMCR_HS_IMPL_H */
