/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal interfaces between the files of RMBs. */
#ifndef _SMCR_RMB_IMPL_H
#define _SMCR_RMB_IMPL_H

#include "lgr/lgr.h"
#include "lgr/rmb.h"

#define SMCR_RMB_ACCESS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define SMCR_RMB_FIRST		(256U << 10)	/* bytes of the first RMB of a class */
#define SMCR_RMB_FIRST_ELEMS	2		/* elements of that RMB, at least */
#define SMCR_RMB_LOW		8		/* add an RMB when less than 1/8 is free */

/* rmb.c */
u32 smcr_rmb_elems_wanted(struct smcr_lgr *lgr, u8 bsize);
bool smcr_rmb_class_low(struct smcr_lgr *lgr, u8 bsize);
bool smcr_rmb_limit_reached(const struct smcr_lgr *lgr);
u8 smcr_rmb_bsize_cap(const struct smcr_lgr *lgr, u8 bsize);
void smcr_rmb_class_add_free(struct smcr_lgr *lgr, u8 bsize, int n);
bool smcr_rmb_newest(const struct smcr_rmb *rmb);
bool smcr_lgr_forming(const struct smcr_lgr *lgr);
bool smcr_lgr_dead(const struct smcr_lgr *lgr);
void smcr_rmb_work_arm(struct smcr_lgr *lgr, unsigned long delay);
unsigned long smcr_rmb_quarantine(const struct smcr_lgr *lgr);
unsigned long smcr_rmb_idle_time(const struct smcr_lgr *lgr);
bool smcr_rmb_short(long rc);
struct smcr_rmb *smcr_rmb_create(struct smcr_lgr *lgr,
				 const struct smcr_link *link, u8 bsize, u32 n);
void smcr_rmb_link(struct smcr_lgr *lgr, struct smcr_rmb *rmb);
void smcr_rmb_free_locked(struct smcr_rmb *rmb);
void smcr_rmb_drop_mr(struct smcr_rmb *rmb, u8 d);
void smcr_rmb_leave_dev(struct smcr_lgr *lgr, u8 d);
int smcr_rmb_register(struct smcr_rmb *rmb, struct smcr_link *link);
struct smcr_rmb *smcr_rmb_with_room(struct smcr_lgr *lgr, u8 bsize);
struct smcr_rmb *smcr_rmb_create_some(struct smcr_lgr *lgr,
				      const struct smcr_link *link, u8 bsize,
				      u32 n);

#endif /* _SMCR_RMB_IMPL_H */
