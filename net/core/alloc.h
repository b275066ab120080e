/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocators of RMB elements and link numbers. The caller owns the storage.
 */
#ifndef _SMCR_CORE_ALLOC_H
#define _SMCR_CORE_ALLOC_H

#include "env.h"
#include "proto.h"

/*
 * Elements of one RMB. The search is next-fit, so that a freed element is
 * unused as long as possible. An element is free, busy or in quarantine. It is
 * in quarantine if its connection has ended, and the peer may still write to it
 * (RMB-22, RMB-23).
 */
struct smcr_elems {
	u16 n;			/* number of elements, 1..255 */
	u16 n_free;
	u16 next;		/* where the search starts, 0-based */
	u8 state[SMCR_ELEMS_MAX];	/* SMCR_ELEM_* */
};

enum { SMCR_ELEM_FREE, SMCR_ELEM_BUSY, SMCR_ELEM_QUARANTINE };

void smcr_elems_init(struct smcr_elems *e, u16 n);
u8 smcr_elems_get(struct smcr_elems *e);
bool smcr_elems_put(struct smcr_elems *e, u8 index, bool quarantine);
bool smcr_elems_release(struct smcr_elems *e, u8 index);
bool smcr_elems_idle(const struct smcr_elems *e);

/*
 * Link numbers 1..255 of a group (LG-13, I-16). They are assigned in cyclic
 * order, so a number is not reused before all the others were used.
 */
struct smcr_link_nums {
	u8 last;		/* number assigned last, 0 at the start */
	u8 used[32];		/* bitmap */
};

u8 smcr_link_num_get(struct smcr_link_nums *l);
bool smcr_link_num_take(struct smcr_link_nums *l, u8 num);
void smcr_link_num_put(struct smcr_link_nums *l, u8 num);

#endif /* _SMCR_CORE_ALLOC_H */
