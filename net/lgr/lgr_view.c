// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links of a group as netlink and the log show them: states, roles, redundancy, deleted
 * links. States and roles are copied from the state machine, which only llc.work may read.
 * A redundant group survives the loss of an RNIC (LG-53).
 */
#include "lgr/lgr.h"
#include "lgr/lgr_impl.h"
#include "lgr/lgr_view.h"

static u8 redundancy(const struct smcr_pairs *pairs)
{
	if (smcr_roles_redundant(pairs))
		return SMCR_REDUNDANCY_SYM;
	return pairs->n > 1 ? SMCR_REDUNDANCY_ASYM : SMCR_REDUNDANCY_NONE;
}

/* Log the redundancy @now. @was: the one logged last; NR_SMCR_REDUNDANCY: none was logged */
static void log_redundancy(const struct smcr_lgr *lgr, u8 was, u8 now,
			   unsigned int n)
{
	static const char *const few[] = {
		[SMCR_REDUNDANCY_NONE]	= "one link",
		[SMCR_REDUNDANCY_ASYM]	= "an asymmetric link",
	};
	const char *more = was == SMCR_REDUNDANCY_SYM ? " any more" : "";

	if (now == SMCR_REDUNDANCY_SYM)
		net_info_ratelimited("link group %u is redundant (%u links)\n",
				     lgr->id, n);
	else
		net_info_ratelimited("link group %u is not redundant%s (%s)\n",
				     lgr->id, more, few[now]);
}

/**
 * smcr_lgr_view_update() - copy states and roles after an event of the state machine
 * @lgr: group
 *
 * Context: the group's work.
 */
void smcr_lgr_view_update(struct smcr_lgr *lgr)
{
	const struct smcr_lgr_fsm *fsm = &lgr->llc.fsm;
	u8 role[SMCR_SLOTS], slot[SMCR_SLOTS], was;
	struct smcr_lgr_view *s = &lgr->view;
	struct smcr_pairs pairs;
	bool log;
	u8 i;

	smcr_lgr_pairs(fsm, &pairs, slot);
	smcr_roles(&pairs, role);

	spin_lock_bh(&lgr->lock);
	for (i = 0; i < SMCR_SLOTS; i++) {
		s->st[i] = fsm->slot[i].st;
		if (s->st[i] == SMCR_SLOT_MAKING)
			s->role[i] = SMCR_ROLE_UNKNOWN;
	}
	for (i = 0; i < pairs.n; i++)
		s->role[slot[i]] = role[i];
	s->n_links = pairs.n;
	s->redundancy = redundancy(&pairs);
	was = s->logged;
	log = lgr->st == SMCR_LGR_ST_ACTIVE && pairs.n && was != s->redundancy;
	if (log)
		s->logged = s->redundancy;
	spin_unlock_bh(&lgr->lock);

	if (log)
		log_redundancy(lgr, was, s->logged, pairs.n);
}

void smcr_lgr_view_init(struct smcr_lgr *lgr)
{
	memset(lgr->view.role, SMCR_ROLE_UNKNOWN, sizeof(lgr->view.role));
	lgr->view.logged = NR_SMCR_REDUNDANCY;
}

/**
 * smcr_lgr_view_deleted() - record a deleted link, if it has carried data
 * @lgr: group, its lock held
 * @link: link that is stopped or has failed: nothing is posted on it any more
 */
void smcr_lgr_view_deleted(struct smcr_lgr *lgr, struct smcr_link *link)
{
	struct smcr_lgr_view *s = &lgr->view;
	struct smcr_link_record *past;

	lockdep_assert_held(&lgr->lock);
	if (s->role[link->slot] == SMCR_ROLE_UNKNOWN)
		return;
	past = &s->records[s->n_records++ % SMCR_LINK_RECORDS_MAX];
	past->num = link->num;
	past->role = s->role[link->slot];
	past->why = READ_ONCE(link->why);
	strscpy(past->dev, smcr_dev_name(link->pid.dev).s, sizeof(past->dev));
	past->port = link->pid.port;
	past->gid = link->pid.gid;
	memset(past->peer_gid, 0, sizeof(past->peer_gid));
	if (smcr_link_met(link))
		memcpy(past->peer_gid, link->peer_gid, sizeof(past->peer_gid));
	past->writes = READ_ONCE(link->tx_writes);
	past->bytes = READ_ONCE(link->tx_bytes);
	past->n_came = link->n_came;
	past->n_left = link->n_left;
	past->since = jiffies;
}

/**
 * smcr_lgr_moved() - count a connection that has moved to another link
 * @lgr: group
 * @from: link that the connection has left; may already be deleted
 * @to: link that the connection is on now
 *
 * Context: any up to softirq.
 */
void smcr_lgr_moved(struct smcr_lgr *lgr, struct smcr_link *from,
		    struct smcr_link *to)
{
	struct smcr_lgr_view *s = &lgr->view;
	unsigned int i;

	spin_lock_bh(&lgr->lock);
	s->n_moved++;
	WRITE_ONCE(to->n_came, to->n_came + 1);
	WRITE_ONCE(from->n_left, from->n_left + 1);
	for (i = 0; i < min(s->n_records, SMCR_LINK_RECORDS_MAX); i++)
		if (s->records[i].num == from->num)
			s->records[i].n_left = from->n_left;
	spin_unlock_bh(&lgr->lock);
}

/**
 * smcr_lgr_waiting() - number of connections that cannot send until they have moved
 * @lgr: group, its lock held
 *
 * Such a connection is on a link that has failed, or that drains. It has not moved yet,
 * because what it has sent is still under way, or because the work that moves it has not
 * run yet.
 *
 * Return: number; it may lack connections that are being added or removed.
 */
u32 smcr_lgr_waiting(const struct smcr_lgr *lgr)
{
	unsigned long live = READ_ONCE(lgr->live);
	const struct smcr_link *link;
	u32 on = 0;
	unsigned int i;

	lockdep_assert_held(&lgr->lock);
	if (lgr->st != SMCR_LGR_ST_ACTIVE)
		return 0;
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = lgr->slot[i].link;
		if (link && smcr_link_carries(link))
			on += atomic_read(&link->n_conns);
	}
	return lgr->conns.n > on ? lgr->conns.n - on : 0;
}

/**
 * smcr_lgr_link_status() - state and role of a link
 * @lgr: group
 * @link: link of the group, or link that has left its slot
 * @role: set to enum smcr_link_role, or SMCR_ROLE_UNKNOWN: the link has not carried data
 *
 * Return: enum smcr_slot_st.
 */
u8 smcr_lgr_link_status(struct smcr_lgr *lgr, const struct smcr_link *link,
			u8 *role)
{
	u8 st;

	spin_lock_bh(&lgr->lock);
	st = lgr->view.st[link->slot];
	*role = lgr->view.role[link->slot];
	if (lgr->slot[link->slot].link != link)
		st = SMCR_SLOT_GONE;
	spin_unlock_bh(&lgr->lock);
	/* the link has failed, but the state machine has not processed that yet */
	if (st == SMCR_SLOT_ACTIVE && READ_ONCE(link->st) == SMCR_LINK_ST_ERR)
		return SMCR_SLOT_FAILED;
	return st == SMCR_SLOT_FREE ? SMCR_SLOT_GONE : st;
}
