/* SPDX-License-Identifier: GPL-2.0-only */
/* Links of a group as netlink and the log show them (lgr_view.c). */
#ifndef _SMCR_LGR_VIEW_H
#define _SMCR_LGR_VIEW_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "core/lgr_fsm.h"
#include "core/reason.h"
#include "base/base.h"

enum {
	SMCR_LINK_RECORDS_MAX		= 8,	/* deleted links that are shown */
	SMCR_ROLE_UNKNOWN	= 0xff,	/* of a link that has not carried data */
};

/* Does a group survive the loss of any RNIC? Only with SMCR_REDUNDANCY_SYM (LG-53) */
enum smcr_redundancy {
	SMCR_REDUNDANCY_NONE,	/* one link */
	SMCR_REDUNDANCY_ASYM,	/* links that share an RNIC */
	SMCR_REDUNDANCY_SYM,
	NR_SMCR_REDUNDANCY
};

/* Record of a deleted link */
struct smcr_link_record {
	u8 num;
	u8 role;		/* enum smcr_link_role */
	u8 port;
	char dev[IB_DEVICE_NAME_MAX];
	union ib_gid gid;
	u8 peer_gid[16];
	enum smcr_reason why;	/* of its failure; SMCR_R_NONE: it did not fail */
	u32 n_came, n_left;	/* connections that moved here, and away */
	u64 writes, bytes;
	unsigned long since;	/* jiffies when it was recorded */
};

/**
 * struct smcr_lgr_view - links of a group as netlink and the log show them; lgr->lock
 * @st: state of each slot, enum smcr_slot_st
 * @role: role of each slot's link, enum smcr_link_role, or SMCR_ROLE_UNKNOWN
 * @n_links: links that carry data
 * @redundancy: enum smcr_redundancy
 * @logged: @redundancy that was logged last; NR_SMCR_REDUNDANCY: none was logged
 * @records: ring of the links that were deleted last
 * @n_records: number of links that were recorded so far
 * @n_moved: connections that have changed links
 *
 * Only llc.work writes the members, except @records and @n_moved.
 */
struct smcr_lgr_view {
	u8 st[SMCR_SLOTS];
	u8 role[SMCR_SLOTS];
	u8 n_links;
	u8 redundancy;
	u8 logged;
	struct smcr_link_record records[SMCR_LINK_RECORDS_MAX];
	unsigned int n_records;
	u64 n_moved;
};

void smcr_lgr_moved(struct smcr_lgr *lgr, struct smcr_link *from,
		    struct smcr_link *to);
u32 smcr_lgr_waiting(const struct smcr_lgr *lgr);
u8 smcr_lgr_link_status(struct smcr_lgr *lgr, const struct smcr_link *link,
			u8 *role);

#endif /* _SMCR_LGR_VIEW_H */
