/* SPDX-License-Identifier: GPL-2.0-only */
/* RTokens of the peer's RMBs, on each link of a group, RFC 7609 3.5.5.2. */
#ifndef _SMCR_RTOKEN_H
#define _SMCR_RTOKEN_H

#include <linux/xarray.h>
#include "core/lgr_roles.h"
#include "base/base.h"

#define SMCR_RTOKEN_HASH_BITS	8

/**
 * struct smcr_rtoken - RToken of an RMB of the peer
 * @on: by slot of the link: RKey and address of the RMB there, and the next RToken of
 *	its hash chain, as in smcr_rtokens.head
 * @known: slots for which the peer has announced the RToken, bits
 * @used: number of connections that write to the RMB
 * @size: bytes of an element, from the CLC message of the first connection; valid
 *	while @used is not 0
 * @confirmed: the peer has confirmed the RToken and not withdrawn it. An RToken that is
 *	neither @confirmed nor @begun is freed with its last connection
 * @begun: CONFIRM RKEY is under way: smcr_lgr_begin_rtoken()
 */
struct smcr_rtoken {
	struct {
		u32 rkey;
		u8 next;
		u64 va;
	} on[SMCR_SLOTS];
	u16 known;
	u16 used;
	u32 size;
	bool confirmed;
	bool begun;
};

/**
 * struct smcr_rtokens - RTokens of the peer; lgr->lock
 * @taken: entries of @tab that are in use, bits
 * @head: hash chains for the link in each slot, by the RKey on that link: 1 + index in @tab
 *	of the first entry; 0: the chain is empty
 * @tab: RTokens by index
 */
struct smcr_rtokens {
	DECLARE_BITMAP(taken, SMCR_RMBS_MAX);
	u8 head[SMCR_SLOTS][1 << SMCR_RTOKEN_HASH_BITS];
	struct smcr_rtoken tab[SMCR_RMBS_MAX];
};

/**
 * struct smcr_lgr_rtok - memory of the peer; lgr->lock
 * @all: its RTokens
 * @relems: the smcr_conn that uses each element, by index of the RToken << 8 | element;
 *	the xarray's own lock
 */
struct smcr_lgr_rtok {
	struct smcr_rtokens *all;
	struct xarray relems;
};

int smcr_lgr_use_rtoken(struct smcr_lgr *lgr, const struct smcr_link *link,
			u32 rkey, u64 va, u32 size);
int smcr_lgr_rtoken_on(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 *rkey,
		       u64 *va);
void smcr_lgr_unuse_rtoken(struct smcr_lgr *lgr, int rtoken);
bool smcr_lgr_rtoken_fits(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va);
int smcr_lgr_begin_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va);
void smcr_lgr_end_rtoken(struct smcr_lgr *lgr, int rtoken, bool ok);
void smcr_lgr_record_rtoken(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 rkey,
			    u64 va);
int smcr_lgr_find_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey);
void smcr_lgr_forget_slot(struct smcr_lgr *lgr, u8 slot);
bool smcr_lgr_rtoken_known(struct smcr_lgr *lgr, u8 slot, u32 rkey,
			   bool unused);
void smcr_lgr_del_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey);

#endif /* _SMCR_RTOKEN_H */
