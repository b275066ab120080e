// SPDX-License-Identifier: GPL-2.0-only
/*
 * Even distribution of connections over the links of a group (RFC 7609 2.3, LG-47).
 */
#include "core/lgr_plan.h"
#include "base/netns.h"
#include "lgr/lgr.h"
#include "lgr/lgr_balance.h"
#include "lgr/lgr_impl.h"

/*
 * Set @more to the number of connections that are to leave the link of each slot. Returns
 * their sum
 */
static u32 balance_plan(struct smcr_lgr *lgr, u32 more[SMCR_SLOTS])
{
	const struct smcr_link *link;
	u32 n[SMCR_SLOTS] = { };
	unsigned long live;
	unsigned int i;
	u16 carry = 0;

	spin_lock_bh(&lgr->lock);
	live = lgr->st == SMCR_LGR_ST_ACTIVE ? READ_ONCE(lgr->live) : 0;
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = lgr->slot[i].link;
		if (!link || !smcr_link_carries(link))
			continue;
		carry |= BIT(i);
		n[i] = atomic_read(&link->n_conns);
	}
	spin_unlock_bh(&lgr->lock);
	return smcr_spread(n, carry, more);
}

/**
 * smcr_lgr_balance() - spread the connections of a group evenly over its links
 * @lgr: group; nothing happens if it is not ACTIVE, or if no link has more than its share
 *
 * Each connection moves later, in its own work, if the move still makes the load more even
 * at that time. Only the link that this host sends on changes: the peer chooses the link
 * that it sends on.
 *
 * Context: process, sleeps.
 */
void smcr_lgr_balance(struct smcr_lgr *lgr)
{
	u32 more[SMCR_SLOTS], n;

	n = balance_plan(lgr, more);
	if (!n)
		return;
	net_info_ratelimited("link group %u: %u connections are to move, for an even load\n",
			     lgr->id, n);
	smcr_lgr_owner_ops->spread_conns(lgr, more);
}

/**
 * smcr_lgr_balance_all() - smcr_lgr_balance() for every group of a namespace
 * @sn: namespace
 *
 * Context: process, sleeps.
 */
void smcr_lgr_balance_all(struct smcr_net *sn)
{
	struct smcr_lgr *lgr;
	u64 after = 0;

	while ((lgr = smcr_lgr_next(sn, after))) {
		after = lgr->net.id.id;
		smcr_lgr_balance(lgr);
		smcr_lgr_put(lgr);
		cond_resched();
	}
}
