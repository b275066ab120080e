// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTokens of the peer: its RMBs, as they are known on the link (RFC 7609 3.5.5.2).
 */
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"

/* Index of an RToken that the peer has confirmed, or, with @add, does so now */
static int smcr_lgr_rtoken(struct smcr_lgr *lgr, u32 rkey, u64 va, bool add)
{
	int i, free = -ENOSPC;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_RMBS_MAX; i++) {
		struct smcr_rtoken *rt = &lgr->rtokens[i];

		if (rt->valid && rt->rkey == rkey && rt->va == va) {
			rt->confirmed |= add;
			return rt->confirmed ? i : -ENOENT;
		}
		if (!rt->valid && free < 0)
			free = i;
	}
	if (!add)
		return -ENOENT;
	if (free >= 0)
		lgr->rtokens[free] = (struct smcr_rtoken) {
			.rkey = rkey,
			.va = va,
			.valid = true,
			.confirmed = true,
		};
	return free;
}

/**
 * smcr_lgr_rtoken_fits() - is there room for an RToken?
 * @lgr: group
 * @rkey: key on the group's link
 * @va: address
 *
 * Context: the group's LLC work, which alone adds some to an active group.
 * Return: true if it is known, or can be added.
 */
bool smcr_lgr_rtoken_fits(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	bool fits = false;
	int i;

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_RMBS_MAX && !fits; i++) {
		struct smcr_rtoken *rt = &lgr->rtokens[i];

		fits = !rt->valid || (rt->rkey == rkey && rt->va == va);
	}
	spin_unlock_bh(&lgr->lock);
	return fits;
}

/**
 * smcr_lgr_add_rtoken() - CONFIRM RKEY: the peer has a new RMB
 * @lgr: group
 * @rkey: key on the group's link
 * @va: address
 *
 * Return: index or -ENOSPC.
 */
int smcr_lgr_add_rtoken(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	int i;

	spin_lock_bh(&lgr->lock);
	i = smcr_lgr_rtoken(lgr, rkey, va, true);
	spin_unlock_bh(&lgr->lock);
	return i;
}

/* What a key of the peer stands for: one that is not withdrawn; or NULL */
static struct smcr_rtoken *rtoken_of(struct smcr_lgr *lgr, u32 rkey)
{
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMCR_RMBS_MAX; i++)
		if (lgr->rtokens[i].valid && lgr->rtokens[i].confirmed &&
		    lgr->rtokens[i].rkey == rkey)
			return &lgr->rtokens[i];
	return NULL;
}

/**
 * smcr_lgr_rtoken_known() - is this a key of an RMB of the peer?
 * @lgr: group
 * @rkey: key on the group's link
 * @unused: and no connection writes there (RMB-25)
 *
 * Return: true if so.
 */
bool smcr_lgr_rtoken_known(struct smcr_lgr *lgr, u32 rkey, bool unused)
{
	const struct smcr_rtoken *rt;
	bool known;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_of(lgr, rkey);
	known = rt && !(unused && rt->used);
	spin_unlock_bh(&lgr->lock);
	return known;
}

/**
 * smcr_lgr_del_rtoken() - DELETE RKEY: the peer withdraws an RMB
 * @lgr: group
 * @rkey: key on the group's link
 *
 * If a connection still writes there, its end may be on its way: the RToken is
 * forgotten with it, and no other connection gets it.
 */
void smcr_lgr_del_rtoken(struct smcr_lgr *lgr, u32 rkey)
{
	struct smcr_rtoken *rt;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_of(lgr, rkey);
	if (rt) {
		rt->valid = rt->used;
		rt->confirmed = false;
	}
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_use_rtoken() - a connection is going to write to an RMB of the peer
 * @lgr: group
 * @rkey: RKey of the RMB
 * @va: address of the RMB
 *
 * First contact makes the RMB known. Later ones have to be confirmed on the link
 * before CLC names them (RFC 7609 3.5.5.2.1): what a CLC message says may come
 * from anybody, and a write with an RKey that does not exist ends the link with
 * the connections of all.
 *
 * Return: index for smcr_lgr_unuse_rtoken(); -ENOENT it was not confirmed;
 * -ENOSPC.
 */
int smcr_lgr_use_rtoken(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	int rt;

	spin_lock_bh(&lgr->lock);
	rt = smcr_lgr_rtoken(lgr, rkey, va, lgr->st == SMCR_LGR_ST_FORMING);
	if (rt >= 0)
		lgr->rtokens[rt].used++;
	spin_unlock_bh(&lgr->lock);
	return rt;
}

/**
 * smcr_lgr_unuse_rtoken() - end of smcr_lgr_use_rtoken()
 * @lgr: group
 * @rtoken: index; one that was withdrawn is forgotten with its last user
 */
void smcr_lgr_unuse_rtoken(struct smcr_lgr *lgr, int rtoken)
{
	struct smcr_rtoken *rt = &lgr->rtokens[rtoken];

	spin_lock_bh(&lgr->lock);
	if (!--rt->used && !rt->confirmed)
		rt->valid = false;
	spin_unlock_bh(&lgr->lock);
}
