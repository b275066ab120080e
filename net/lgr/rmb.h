/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RMBs of a link group and their elements, RFC 7609 2.1, 4.1, 4.4.
 *
 * One RMB has up to 255 elements of one size. It is registered once on each device of the
 * group, so connections get and put elements without calls of verbs. The RMBs of one
 * element size are a class. An element size is given as a size code (bsize).
 */
#ifndef _SMCR_RMB_H
#define _SMCR_RMB_H

#include <linux/bits.h>
#include "core/alloc.h"
#include "core/llc.h"
#include "base/base.h"
#include "rdma/buf.h"
#include "rdma/link.h"
#include "lgr/lgr_dev.h"

/**
 * struct smcr_rmb - one RMB
 * @node: member of lgr->rmbs.list[bsize], oldest first, or of lgr->rmbs.off;
 *	lgr->rmbs.mutex
 * @lgr: group that owns the RMB, no reference (an RMB never outlives its group)
 * @buf: memory
 * @mr: fast-registration MR by device of the group, NULL: there is none yet. Its rkey and
 *	its iova, the address for the peer, are fixed when the MR is allocated, and valid for
 *	the peer once the device is in @registered. The MR is freed with the last link on the
 *	device, so a reference on a link there is enough to read the MR
 * @id: number within the group, for display
 * @bsize: element size code
 * @elems: allocation state; lgr->rmbs.mutex
 * @registered: devices on which REG_MR has completed, bits; atomic
 * @off: the RMB is in lgr->rmbs.off; lgr->rmbs.mutex
 * @announced: the RMB is announced to the peer, by CONFIRM RKEY or, in first contact, by
 *	CLC, and is not being withdrawn. When a link is added, the RToken of an announced RMB
 *	on that link is announced, too; READ_ONCE()
 * @leaked: a device has not deregistered an MR, so the peer may still write here: the memory
 *	is never freed
 * @idle_since: jiffies when an element was last freed, when the RMB was created, or when its
 *	withdrawal failed; lgr->rmbs.mutex
 * @held_since: by index of an element - 1: jiffies when the element was put into quarantine;
 *	lgr->rmbs.mutex
 */
struct smcr_rmb {
	struct list_head node;
	struct smcr_lgr *lgr;
	struct smcr_buf *buf;
	struct ib_mr *mr[SMCR_DEVS_MAX];
	u32 id;
	u8 bsize;
	struct smcr_elems elems;
	unsigned long registered;
	bool off;
	bool announced;
	bool leaked;
	unsigned long idle_since;
	unsigned long held_since[];
};

/*
 * RKey of an RMB on a link. smcr_rmb_va() returns the RMB's address there. Both return 0 if
 * the RMB has no MR on the link's device.
 */
static inline u32 smcr_rmb_rkey(const struct smcr_rmb *rmb,
				const struct smcr_link *link)
{
	const struct ib_mr *mr = rmb->mr[link->mem.d];

	return mr ? mr->rkey : 0;
}

static inline u64 smcr_rmb_va(const struct smcr_rmb *rmb,
			      const struct smcr_link *link)
{
	const struct ib_mr *mr = rmb->mr[link->mem.d];

	return mr ? mr->iova : 0;
}

static inline bool smcr_rmb_registered(const struct smcr_rmb *rmb,
				       const struct smcr_link *link)
{
	return test_bit(link->mem.d, &rmb->registered);
}

/**
 * struct smcr_rmb_want - requests to rmbs.work for one class; lgr->rmbs.mutex
 * @wanted: a connection waits for another RMB
 * @tries: number of finished attempts to add an RMB; an attempt ahead of need that failed
 *	does not count
 * @rc: result of the last attempt that counts
 * @payer: memory cgroup that the next RMB is charged to. While a connection waits, it is that
 *	of the first request since the last attempt (exception: rmb_set_payer()). Otherwise
 *	it is that of the last connection that took an element while few were free. A
 *	reference, or NULL: the root cgroup
 * @full: memory cgroup that last had no room for an RMB; a reference, or NULL
 */
struct smcr_rmb_want {
	bool wanted;
	u32 tries;
	int rc;
	struct mem_cgroup *payer;
	struct mem_cgroup *full;
};

/**
 * struct smcr_lgr_rmbs - own memory; @mutex
 * @mutex: guards RMBs, their elements, and devices. Also held while an MR of one RMB is
 *	allocated or registered for a new link, so that the RMB is not freed at that time
 * @list: RMBs by class (element size code)
 * @off: RMBs that @work is adding or withdrawing, or could not withdraw: their elements
 *	are not given out
 * @n: number of RMBs; READ_ONCE without the mutex
 * @n_free: free elements by class; READ_ONCE without the mutex
 * @n_elems: elements by class, of the RMBs in @list
 * @next_id: ID of the RMB that was created last
 * @want: requests to @work, by class
 * @devs: devices of the links, by link->mem.d. An entry stays until the last link on its
 *	device is freed. So a reference on such a link is enough to read the entry without
 *	the mutex
 * @pause: jiffies before which no RMB is added ahead of need
 * @max: maximum size of an RMB in bytes: each device that a link has been on can map it. It
 *	never grows; written with @mutex held, read without it
 * @work: adds RMBs, frees idle ones, ends quarantines; owns a reference on the group
 *	while queued
 */
struct smcr_lgr_rmbs {
	struct mutex mutex;	/* RMBs, their elements, devices */
	struct list_head list[SMCR_BSIZE_MAX + 1];
	struct list_head off;
	unsigned int n;
	unsigned int n_free[SMCR_BSIZE_MAX + 1];
	unsigned int n_elems[SMCR_BSIZE_MAX + 1];
	u32 next_id;
	struct smcr_rmb_want want[SMCR_BSIZE_MAX + 1];
	struct smcr_lgr_dev devs[SMCR_DEVS_MAX];
	unsigned long pause;
	u32 max;
	struct delayed_work work;
};

/* An element of a connection */
struct smcr_elem {
	struct smcr_rmb *rmb;
	u8 index;		/* 1..255 */
	u32 off;		/* offset of the element in rmb->buf */
	u32 size;		/* element length */
};

/*
 * Requests for RMBs that a caller of smcr_rmb_get_elem() has made so far. That function does
 * not wait until an RMB is added. Its caller calls it again, with the same structure, which
 * is zeroed before the first call.
 */
struct smcr_rmb_req {
	u32 lgr_id;
	u32 tries[SMCR_BSIZE_MAX + 1];	/* value of want.tries that ends the request; 0: none */
	u8 short_of;		/* classes for which memory was short, bits */
	int rc;			/* error for the last of these classes */
};

int smcr_rmb_get_elem(struct smcr_lgr *lgr, u8 bsize, struct mem_cgroup *memcg,
		      struct smcr_elem *elem, struct smcr_rmb_req *req,
		      enum smcr_reason *why);
bool smcr_rmb_has_room(const struct smcr_lgr *lgr, u8 bsize);
void smcr_rmb_put_elem(struct smcr_elem *elem, u32 written, bool quarantine);
int smcr_rmb_register_all(struct smcr_lgr *lgr, struct smcr_link *link);
int smcr_rmb_tokens(struct smcr_lgr *lgr, struct smcr_link *link, u8 carrier,
		    struct smcr_llc_rtoken_pair **tok);
void smcr_rmb_free_all(struct smcr_lgr *lgr);
void smcr_rmb_work(struct work_struct *work);
void smcr_lgr_kick_rmb_work(struct smcr_lgr *lgr);
void smcr_rmb_clear_eye(const struct smcr_elem *elem);
bool smcr_rmb_eye_ok(const struct smcr_elem *elem, u8 d);

#endif /* _SMCR_RMB_H */
