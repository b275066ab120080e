/* SPDX-License-Identifier: GPL-2.0-only */
/* What netlink and the log say of a group's links (lgr_view.c). */
#ifndef _SMCR_LGR_VIEW_H
#define _SMCR_LGR_VIEW_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "core/lgr_fsm.h"
#include "core/reason.h"

enum {
	SMCR_LINK_RECORDS_MAX		= 8,	/* deleted links that are remembered */
	SMCR_ROLE_UNKNOWN	= 0xff,	/* of a link that has not carried data */
};

/* What a group has in case an RNIC is lost (LG-53) */
enum smcr_redundancy {
	SMCR_REDUNDANCY_NONE,	/* one link */
	SMCR_REDUNDANCY_ASYM,	/* links that share an RNIC */
	SMCR_REDUNDANCY_SYM,
	NR_SMCR_REDUNDANCY
};

/* What remains of a link that is deleted */
struct smcr_link_record {
	u8 num;
	u8 role;		/* enum smcr_link_role */
	u8 port;
	char dev[IB_DEVICE_NAME_MAX];
	union ib_gid gid;
	u8 peer_gid[16];
	enum smcr_reason why;	/* it failed; NONE: it did not */
	u32 n_came, n_left;	/* connections, from and to other links */
	u64 writes, bytes;
	unsigned long since;	/* jiffies */
};

/*
 * struct smcr_lgr_view - what netlink and the log may see of the state machine; lgr->lock,
 * written by llc.work but for the last three
 * @st, @role: of each slot; enum smcr_slot_st, enum smcr_link_role
 * @n_links: links that carry data
 * @redundancy: enum smcr_redundancy; @said: what the log says of it
 * @records, @n_records: links that are deleted, a ring; how many there have been
 * @n_moved: connections that have changed links
 */
struct smcr_lgr_view {
	u8 st[SMCR_SLOTS];
	u8 role[SMCR_SLOTS];
	u8 n_links;
	u8 redundancy;
	u8 said;
	struct smcr_link_record records[SMCR_LINK_RECORDS_MAX];
	unsigned int n_records;
	u64 n_moved;
};

#endif /* _SMCR_LGR_VIEW_H */
