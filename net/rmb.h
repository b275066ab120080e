/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RMBs of a link group and their elements, RFC 7609 2.1, 4.1, 4.4.
 *
 * One RMB holds up to 255 elements of one size and is registered once per
 * link; elements come and go without any verb.
 */
#ifndef _SMCR_RMB_H
#define _SMCR_RMB_H

#include "base.h"
#include "buf.h"
#include "core/slots.h"

/**
 * struct smcr_rmb - one RMB
 * @node: member of lgr->rmbs[bsize], oldest first; lgr->rmb_mutex
 * @lgr: owner, no reference (an RMB never outlives it)
 * @buf: memory
 * @mr: fast-registration MR on the group's link; its rkey is fixed from the
 *	start and valid for the peer once @registered
 * @id: number within the group, for display
 * @bsize: element size code
 * @elems: allocation state; lgr->rmb_mutex
 * @registered: REG_MR has completed; set under lgr->rmb_mutex
 * @announced: the peer may know the rkey; lgr->rmb_mutex
 * @va: address announced to the peer (start of the RMB)
 * @idle_since: jiffies when the last element was freed; lgr->rmb_mutex
 * @held_since: jiffies when element [index - 1] was put into quarantine;
 *	lgr->rmb_mutex
 */
struct smcr_rmb {
	struct list_head node;
	struct smcr_lgr *lgr;
	struct smcr_buf *buf;
	struct ib_mr *mr;
	u32 id;
	u8 bsize;
	struct smcr_elems elems;
	bool registered;
	bool announced;
	u64 va;
	unsigned long idle_since;
	unsigned long held_since[];
};

/* One element, as a connection holds it */
struct smcr_elem {
	struct smcr_rmb *rmb;
	u8 index;		/* 1..255 */
	u32 off;		/* offset of the element in rmb->buf */
	u32 size;		/* element length */
};

/**
 * smcr_rmb_get_elem() - element for a new connection
 * @lgr: link group
 * @bsize: wanted element size code
 * @elem: filled on success: busy, zeroed, eye catcher set if the group uses
 *	  them or may still come to
 * @why: reason on failure
 *
 * Takes a free element or creates a new RMB (smaller sizes are tried when
 * memory is short, RMB-11). When the link is up (RTS) the RMB is registered
 * on return; in first contact smcr_rmb_register_all() follows later.
 *
 * Context: process, may sleep (bounded by the registration, T_LLC).
 * Return: 0, -ENOMEM, -ENOSPC (RMB limit), -EIO (registration).
 */
int smcr_rmb_get_elem(struct smcr_lgr *lgr, u8 bsize, struct smcr_elem *elem,
		      enum smcr_reason *why);

/**
 * smcr_rmb_put_elem() - the connection is over
 * @elem: element, zeroed here; @elem->rmb is NULL afterwards
 * @quarantine: the peer did not confirm the end: keep it back for a while
 *
 * Context: process, may sleep.
 */
void smcr_rmb_put_elem(struct smcr_elem *elem, bool quarantine);

/* Register all RMBs that are not yet (link is RTS). 0 or -errno. */
int smcr_rmb_register_all(struct smcr_lgr *lgr);

/* All RMBs of a dying group, after its QP and its connections are gone. */
void smcr_rmb_free_all(struct smcr_lgr *lgr);

/*
 * lgr->rmb_work: ends quarantines, frees idle RMBs, prepares the next one. A
 * queued one owns a reference on the group.
 */
void smcr_rmb_work(struct work_struct *work);

/* The eye catcher of an element: not used after all; intact? (RFC mode) */
void smcr_rmb_clear_eye(const struct smcr_elem *elem);
bool smcr_rmb_eye_ok(const struct smcr_elem *elem);

#endif /* _SMCR_RMB_H */
