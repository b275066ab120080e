// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTokens of the peer's RMBs, on each link of a group (RFC 7609 3.5.5.2).
 */
#include <linux/bitmap.h>
#include <linux/hash.h>
#include "lgr/lgr.h"
#include "lgr/rtoken.h"

static u8 rtoken_id(const struct smcr_lgr *lgr, const struct smcr_rtoken *rt)
{
	return rt - lgr->rtok.all->tab + 1;
}

static u8 *rtoken_chain(struct smcr_lgr *lgr, u8 slot, u32 rkey)
{
	return &lgr->rtok.all->head[slot][hash_32(rkey, SMCR_RTOKEN_HASH_BITS)];
}

static void rtoken_link(struct smcr_lgr *lgr, struct smcr_rtoken *rt, u8 slot,
			u32 rkey, u64 va)
{
	u8 *head = rtoken_chain(lgr, slot, rkey);

	rt->on[slot].rkey = rkey;
	rt->on[slot].va = va;
	rt->on[slot].next = *head;
	*head = rtoken_id(lgr, rt);
	rt->known |= BIT(slot);
}

static void rtoken_unlink(struct smcr_lgr *lgr, struct smcr_rtoken *rt, u8 slot)
{
	u8 *at = rtoken_chain(lgr, slot, rt->on[slot].rkey);

	while (*at != rtoken_id(lgr, rt))
		at = &lgr->rtok.all->tab[*at - 1].on[slot].next;
	*at = rt->on[slot].next;
	rt->known &= ~BIT(slot);
}

/* Allocate an entry for an RMB that is known in no slot yet; NULL: there is no room */
static struct smcr_rtoken *rtoken_begin(struct smcr_lgr *lgr)
{
	struct smcr_rtokens *all = lgr->rtok.all;
	unsigned int i = find_first_zero_bit(all->taken, SMCR_RMBS_MAX);

	if (i >= SMCR_RMBS_MAX)
		return NULL;
	__set_bit(i, all->taken);
	memset(&all->tab[i], 0, sizeof(all->tab[i]));
	return &all->tab[i];
}

/* Free an RToken unless it is confirmed, in use or begun: see struct smcr_rtoken */
static void rtoken_check(struct smcr_lgr *lgr, struct smcr_rtoken *rt)
{
	unsigned int slot;

	if (rt->confirmed || rt->used || rt->begun)
		return;
	for (slot = 0; slot < SMCR_SLOTS; slot++)
		if (rt->known & BIT(slot))
			rtoken_unlink(lgr, rt, slot);
	__clear_bit(rt - lgr->rtok.all->tab, lgr->rtok.all->taken);
}

/*
 * Find the RToken that has @rkey on the link in @slot, and has address *@va there. If @va is
 * NULL, find the confirmed RToken with any address. NULL: there is none.
 */
static struct smcr_rtoken *rtoken_find(struct smcr_lgr *lgr, u8 slot, u32 rkey,
				       const u64 *va)
{
	struct smcr_rtoken *rt;
	u8 at;

	lockdep_assert_held(&lgr->lock);
	for (at = *rtoken_chain(lgr, slot, rkey); at; at = rt->on[slot].next) {
		rt = &lgr->rtok.all->tab[at - 1];
		if (rt->on[slot].rkey == rkey &&
		    (va ? rt->on[slot].va == *va : rt->confirmed))
			return rt;
	}
	return NULL;
}

/* Find the RToken of an RMB on the link in @slot, or add it; NULL: there is no room */
static struct smcr_rtoken *rtoken_get(struct smcr_lgr *lgr, u8 slot, u32 rkey,
				      u64 va)
{
	struct smcr_rtoken *rt = rtoken_find(lgr, slot, rkey, &va);

	if (rt)
		return rt;
	rt = rtoken_begin(lgr);
	if (rt)
		rtoken_link(lgr, rt, slot, rkey, va);
	return rt;
}

/* Index of a confirmed RToken. With @add, the RToken is added if need be, and confirmed */
static int lgr_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va,
		      bool add)
{
	struct smcr_rtoken *rt = add ? rtoken_get(lgr, slot, rkey, va) :
				       rtoken_find(lgr, slot, rkey, &va);

	if (!rt)
		return add ? -ENOSPC : -ENOENT;
	rt->confirmed |= add;
	return rt->confirmed ? rt - lgr->rtok.all->tab : -ENOENT;
}

/**
 * smcr_lgr_rtoken_fits() - is there room for an RToken?
 * @lgr: group
 * @slot: slot of the link that the RToken is for
 * @rkey: RKey on that link
 * @va: address on that link
 *
 * Context: the group's work, which alone adds RTokens to an active group.
 * Return: true if the RToken is known, or can be added.
 */
bool smcr_lgr_rtoken_fits(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va)
{
	bool fits;

	spin_lock_bh(&lgr->lock);
	fits = rtoken_find(lgr, slot, rkey, &va) ||
	       !bitmap_full(lgr->rtok.all->taken, SMCR_RMBS_MAX);
	spin_unlock_bh(&lgr->lock);
	return fits;
}

/**
 * smcr_lgr_begin_rtoken() - record an RToken that CONFIRM RKEY announces
 * @lgr: group
 * @slot: slot of the link that the RToken is for
 * @rkey: RKey on that link
 * @va: address on that link
 *
 * More messages may belong to the exchange (LLC-57), so no connection gets the RToken before
 * smcr_lgr_end_rtoken() confirms it. If the peer announces an RToken again that it had
 * withdrawn, and that connections still use, the RToken is not freed before that either when
 * the last of them ends.
 *
 * Return: index or -ENOSPC.
 */
int smcr_lgr_begin_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey, u64 va)
{
	struct smcr_rtoken *rt;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_get(lgr, slot, rkey, va);
	if (rt)
		rt->begun = true;
	spin_unlock_bh(&lgr->lock);
	return rt ? rt - lgr->rtok.all->tab : -ENOSPC;
}

/**
 * smcr_lgr_end_rtoken() - end of a CONFIRM RKEY exchange: confirm or free its RToken
 * @lgr: group
 * @rtoken: index that smcr_lgr_begin_rtoken() has returned
 * @ok: true: all messages have come, so the RToken is confirmed; false: the RToken is freed
 *	if it was neither confirmed before nor in use
 */
void smcr_lgr_end_rtoken(struct smcr_lgr *lgr, int rtoken, bool ok)
{
	struct smcr_rtoken *rt = &lgr->rtok.all->tab[rtoken];

	spin_lock_bh(&lgr->lock);
	rt->begun = false;
	rt->confirmed |= ok;
	rtoken_check(lgr, rt);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_rtoken_known() - does an RKey belong to a known RMB of the peer?
 * @lgr: group
 * @slot: slot of the link on which the peer has named the RMB
 * @rkey: RKey on that link
 * @unused: true: an RMB that a connection writes to does not count (RMB-25)
 *
 * Return: true if the RMB is known and not withdrawn; with @unused, only if no connection
 * writes to it.
 */
bool smcr_lgr_rtoken_known(struct smcr_lgr *lgr, u8 slot, u32 rkey,
			   bool unused)
{
	const struct smcr_rtoken *rt;
	bool known;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_find(lgr, slot, rkey, NULL);
	known = rt && !(unused && rt->used);
	spin_unlock_bh(&lgr->lock);
	return known;
}

/**
 * smcr_lgr_del_rtoken() - drop an RMB that the peer withdraws by DELETE RKEY
 * @lgr: group
 * @slot: slot of the link on which the peer has named the RMB
 * @rkey: RKey on that link; the RKeys on the other links are withdrawn with it
 *
 * A connection whose end is under way may still write to the RMB. Then the RToken is freed
 * when that connection has ended, and no other connection gets the RToken.
 */
void smcr_lgr_del_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey)
{
	struct smcr_rtoken *rt;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_find(lgr, slot, rkey, NULL);
	if (rt) {
		rt->confirmed = false;
		rtoken_check(lgr, rt);
	}
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_use_rtoken() - get an RToken, for a connection that will write to the RMB
 * @lgr: group
 * @link: link that CLC has named; another link may be in its slot by now
 * @rkey: RKey of the RMB on @link
 * @va: address of the RMB on @link
 * @size: bytes of an element
 *
 * First contact adds the RMB. Later RMBs have to be confirmed on the link before CLC
 * names them (RFC 7609 3.5.5.2.1). This is checked because a CLC message may be forged: a
 * write with an RKey that does not exist ends the link for all its connections. All elements
 * of an RMB have one size. With another size, a write could end in the element of another
 * connection, or beyond the RMB.
 *
 * Return: index for smcr_lgr_unuse_rtoken(); -ENOENT @link has left its slot, or the RToken
 * is not confirmed, or is in use with elements of another size; -ENOSPC.
 */
int smcr_lgr_use_rtoken(struct smcr_lgr *lgr, const struct smcr_link *link,
			u32 rkey, u64 va, u32 size)
{
	struct smcr_rtoken *tok;
	int rt = -ENOENT;

	spin_lock_bh(&lgr->lock);
	if (lgr->slot[link->slot].link == link)
		rt = lgr_rtoken(lgr, link->slot, rkey, va,
				lgr->st == SMCR_LGR_ST_FORMING);
	if (rt >= 0) {
		tok = &lgr->rtok.all->tab[rt];
		if (!tok->used)
			tok->size = size;
		if (tok->size == size)
			tok->used++;
		else
			rt = -ENOENT;
	}
	spin_unlock_bh(&lgr->lock);
	return rt;
}

/**
 * smcr_lgr_rtoken_on() - RKey and address of an RMB of the peer on a link
 * @lgr: group
 * @rtoken: index, in use by the caller
 * @slot: slot of the link
 * @rkey: set to the RKey
 * @va: set to the address
 *
 * Context: any; a connection's lock may be held.
 * Return: 0; -ENOENT the peer has announced no RToken of the RMB on the link.
 */
int smcr_lgr_rtoken_on(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 *rkey,
		       u64 *va)
{
	const struct smcr_rtoken *rt = &lgr->rtok.all->tab[rtoken];
	int rc = -ENOENT;

	spin_lock_bh(&lgr->lock);
	if (rt->known & BIT(slot)) {
		*rkey = rt->on[slot].rkey;
		*va = rt->on[slot].va;
		rc = 0;
	}
	spin_unlock_bh(&lgr->lock);
	return rc;
}

/**
 * smcr_lgr_unuse_rtoken() - undo smcr_lgr_use_rtoken()
 * @lgr: group
 * @rtoken: index; an RToken that was withdrawn is freed when no connection uses it any more
 */
void smcr_lgr_unuse_rtoken(struct smcr_lgr *lgr, int rtoken)
{
	struct smcr_rtoken *rt = &lgr->rtok.all->tab[rtoken];

	spin_lock_bh(&lgr->lock);
	rt->used--;
	rtoken_check(lgr, rt);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_record_rtoken() - record RKey and address of an RMB on another link
 * @lgr: group
 * @rtoken: index
 * @slot: slot of the link
 * @rkey: RKey on that link
 * @va: address on that link
 */
void smcr_lgr_record_rtoken(struct smcr_lgr *lgr, int rtoken, u8 slot, u32 rkey,
			    u64 va)
{
	struct smcr_rtoken *rt = &lgr->rtok.all->tab[rtoken];

	spin_lock_bh(&lgr->lock);
	if (rt->known & BIT(slot))
		rtoken_unlink(lgr, rt, slot);
	rtoken_link(lgr, rt, slot, rkey, va);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_find_rtoken() - find the RToken of an RMB by its RKey on a link
 * @lgr: group
 * @slot: slot of the link
 * @rkey: RKey on that link
 *
 * Context: the group's work, which alone adds and withdraws RTokens.
 * Return: index or -ENOENT.
 */
int smcr_lgr_find_rtoken(struct smcr_lgr *lgr, u8 slot, u32 rkey)
{
	const struct smcr_rtoken *rt;
	int i;

	spin_lock_bh(&lgr->lock);
	rt = rtoken_find(lgr, slot, rkey, NULL);
	i = rt ? rt - lgr->rtok.all->tab : -ENOENT;
	spin_unlock_bh(&lgr->lock);
	return i;
}

/**
 * smcr_lgr_forget_slot() - drop the RTokens of a deleted link
 * @lgr: group
 * @slot: slot of the link
 */
void smcr_lgr_forget_slot(struct smcr_lgr *lgr, u8 slot)
{
	int i;

	spin_lock_bh(&lgr->lock);
	memset(lgr->rtok.all->head[slot], 0, sizeof(lgr->rtok.all->head[slot]));
	for (i = 0; i < SMCR_RMBS_MAX; i++)
		lgr->rtok.all->tab[i].known &= ~BIT(slot);
	spin_unlock_bh(&lgr->lock);
}
