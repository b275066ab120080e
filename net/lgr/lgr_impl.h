/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal interfaces between the files of link groups. */
#ifndef _SMCR_LGR_IMPL_H
#define _SMCR_LGR_IMPL_H

#include "lgr/lgr.h"

/* lgr_end.c */
void smcr_lgr_uncount(struct smcr_net *sn);
void smcr_lgr_free_work(struct work_struct *work);
void smcr_lgr_idle_work(struct work_struct *work);
void smcr_lgr_end_work(struct work_struct *work);

/* link_work.c */
void smcr_links_stop(struct smcr_lgr *lgr);
void smcr_links_off(struct smcr_lgr *lgr);
void smcr_links_free(struct smcr_lgr *lgr);

/* Maximum number of RNICs on the LAN that are considered: one more than links can be on */
#define SMCR_LAN_MAX	(SMCR_DEVS_MAX + 1)

/* lgr_rnics.c */
bool smcr_lgr_new_nic(struct smcr_lgr *lgr, struct smcr_port_id *pid);

/* lgr_view.c */
void smcr_lgr_view_init(struct smcr_lgr *lgr);
void smcr_lgr_view_update(struct smcr_lgr *lgr);
void smcr_lgr_view_deleted(struct smcr_lgr *lgr, struct smcr_link *link);

/* lgr_dev.c */
int smcr_lgr_dev_get(struct smcr_lgr *lgr, struct smcr_dev *dev);

/* lgr.c */
struct smcr_lgr *smcr_lgr_next(struct smcr_net *sn, u64 after);
struct smcr_link *smcr_lgr_link_of(const struct smcr_lgr *lgr,
				   const struct smcr_clc_accept *acc);
void smcr_lgr_release_in(struct smcr_lgr *lgr, unsigned long delay);
void smcr_lgr_not_sent(struct smcr_lgr *lgr, u8 slot);
void smcr_lgr_release_now(struct smcr_lgr *lgr);
void smcr_lgr_place_link(struct smcr_link *link);
bool smcr_lgr_set_state(struct smcr_lgr *lgr, u8 st, enum smcr_reason why);
void smcr_lgr_post_end(struct smcr_lgr *lgr, enum smcr_reason why,
		       u32 del_reason);
void smcr_lgr_work_end(struct smcr_lgr *lgr, struct delayed_work *work);
bool smcr_lgr_end_idle(struct smcr_lgr *lgr, enum smcr_reason why);

#endif /* _SMCR_LGR_IMPL_H */
