/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices that the links of a group are on. */
#ifndef _SMCR_LGR_DEV_H
#define _SMCR_LGR_DEV_H

#include <rdma/ib_verbs.h>
#include "base/base.h"

/**
 * struct smcr_lgr_dev - a device that links of a group are on
 * @dev: with a reference; NULL: the entry is free
 * @pd: protection domain of the group on @dev
 * @n_links: number of links on @dev
 * @keep_pd: the device has failed to destroy an MR or a queue pair in @pd, so @pd is never
 *	freed
 * @late: the removal of the device has found this entry when no link on the device was in
 *	a slot; written by the removal, and cleared when @dev is set; no lock
 */
struct smcr_lgr_dev {
	struct smcr_dev *dev;
	struct ib_pd *pd;
	unsigned int n_links;
	bool keep_pd;
	bool late;
};

bool smcr_lgr_dev_late(struct smcr_lgr *lgr, const struct smcr_dev *dev);
unsigned long smcr_lgr_slots_on(struct smcr_lgr *lgr,
				const struct smcr_dev *dev, u8 port);
bool smcr_lgr_is_on_name(struct smcr_lgr *lgr, const char *name);
void smcr_lgr_dev_put(struct smcr_lgr *lgr, u8 d, bool orphan);

#endif /* _SMCR_LGR_DEV_H */
