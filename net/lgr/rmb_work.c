// SPDX-License-Identifier: GPL-2.0-only
/*
 * Housekeeping of a group's RMBs, in one work for each group: it adds RMBs, also before
 * they are needed, frees idle ones, and ends the quarantine of elements.
 */
#include <linux/bitmap.h>
#include "core/clc.h"
#include "base/memcg.h"
#include "base/netns.h"
#include "base/race.h"
#include "base/trace.h"
#include "lgr/lgr.h"
#include "lgr/lgr_rkey.h"
#include "lgr/rmb.h"
#include "lgr/rmb_impl.h"

#define RMB_NEVER		MAX_JIFFY_OFFSET

/* The work */

/* Jiffies from now until @since + @wait, 0 if that is past */
static unsigned long time_left(unsigned long since, unsigned long wait)
{
	unsigned long end = since + wait;

	return time_after(end, jiffies) ? end - jiffies : 0;
}

/*
 * Release elements that were in quarantine long enough. rmbs.mutex is dropped while
 * they are cleared, as nothing else accesses an element in quarantine. Returns jiffies
 * until the next element is due.
 */
static unsigned long rmb_end_quarantine(struct smcr_rmb *rmb)
{
	DECLARE_BITMAP(due, SMCR_ELEMS_MAX) = { };
	u32 size = smcr_bsize_bytes(rmb->bsize);
	struct smcr_lgr *lgr = rmb->lgr;
	unsigned long left, next = RMB_NEVER;
	unsigned int i;

	lockdep_assert_held(&lgr->rmbs.mutex);
	for (i = 0; i < rmb->elems.n; i++) {
		if (rmb->elems.state[i] != SMCR_ELEM_QUARANTINE)
			continue;
		left = time_left(rmb->held_since[i], smcr_rmb_quarantine(lgr));
		if (left)
			next = min(next, left);
		else
			__set_bit(i, due);
	}
	if (bitmap_empty(due, SMCR_ELEMS_MAX))
		return next;

	mutex_unlock(&lgr->rmbs.mutex);
	for_each_set_bit(i, due, SMCR_ELEMS_MAX)
		smcr_buf_zero(rmb->buf, i * size, size);
	mutex_lock(&lgr->rmbs.mutex);
	for_each_set_bit(i, due, SMCR_ELEMS_MAX)
		smcr_elems_release(&rmb->elems, i + 1);
	smcr_rmb_class_add_free(lgr, rmb->bsize, bitmap_weight(due, SMCR_ELEMS_MAX));
	rmb->idle_since = jiffies;
	return next;
}

static unsigned long rmbs_end_quarantine(struct smcr_lgr *lgr)
{
	unsigned long next = RMB_NEVER;
	struct smcr_rmb *rmb;
	int i;

	mutex_lock(&lgr->rmbs.mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++)
		list_for_each_entry(rmb, &lgr->rmbs.list[i], node)
			next = min(next, rmb_end_quarantine(rmb));
	mutex_unlock(&lgr->rmbs.mutex);
	return next;
}

/*
 * Move an RMB that was idle for long to lgr->rmbs.off. The newest RMB of a class stays, as
 * the next connection will use it. *@next is lowered to the jiffies until another RMB may be
 * due. NULL: no RMB is due.
 */
static struct smcr_rmb *rmb_take_idle(struct smcr_lgr *lgr,
				      unsigned long *next)
{
	struct smcr_rmb *rmb;
	unsigned long left;
	int i;

	lockdep_assert_held(&lgr->rmbs.mutex);
	for (i = 0; i <= SMCR_BSIZE_MAX; i++) {
		list_for_each_entry(rmb, &lgr->rmbs.list[i], node) {
			if (!smcr_elems_idle(&rmb->elems) || smcr_rmb_newest(rmb))
				continue;
			left = time_left(rmb->idle_since, smcr_rmb_idle_time(lgr));
			*next = min(*next, left);
			if (left)
				continue;
			list_move(&rmb->node, &lgr->rmbs.off);
			rmb->off = true;
			WRITE_ONCE(rmb->announced, false);
			lgr->rmbs.n_elems[i] -= rmb->elems.n;
			smcr_rmb_class_add_free(lgr, i, -(int)rmb->elems.n_free);
			return rmb;
		}
	}
	/* also try an RMB again that was unlinked before and could not be withdrawn */
	list_for_each_entry(rmb, &lgr->rmbs.off, node) {
		left = time_left(rmb->idle_since, smcr_rmb_idle_time(lgr));
		if (!left)
			return rmb;
		*next = min(*next, left);
	}
	return NULL;
}

/*
 * Have the peer drop the RKey, before the RMB is freed (LLC-66). If all attempts fail, the
 * peer may or may not have dropped the RKey. Then the RMB stays, but its elements are not
 * given out any more.
 */
static int rmb_withdraw(struct smcr_rmb *rmb)
{
	smcr_count(rmb->lgr->sn, SMCR_CNT_T_RMB_FREE);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "withdraw", rmb->bsize);
	return smcr_lgr_delete_rkey(rmb->lgr, rmb);
}

/* Free one idle RMB; false: there is none, or it could not be withdrawn */
static bool rmb_free_idle(struct smcr_lgr *lgr, unsigned long *next)
{
	struct smcr_rmb *rmb;
	int rc;

	mutex_lock(&lgr->rmbs.mutex);
	rmb = rmb_take_idle(lgr, next);
	mutex_unlock(&lgr->rmbs.mutex);
	if (!rmb)
		return false;

	rc = rmb_withdraw(rmb);

	mutex_lock(&lgr->rmbs.mutex);
	if (!rc) {
		WRITE_ONCE(lgr->rmbs.n, lgr->rmbs.n - 1);
		smcr_rmb_free_locked(rmb);
	} else {
		rmb->idle_since = jiffies;
	}
	mutex_unlock(&lgr->rmbs.mutex);
	if (rc)
		*next = max_t(unsigned long, smcr_rmb_idle_time(lgr), HZ);
	return !rc;
}

/* Does a connection wait for an RMB? If so, smcr_rmb_get_elem() queues the work again */
static bool rmbs_wanted(const struct smcr_lgr *lgr)
{
	int i;

	for (i = 0; i <= SMCR_BSIZE_MAX; i++)
		if (READ_ONCE(lgr->rmbs.want[i].wanted))
			return true;
	return false;
}

static unsigned long rmbs_free_idle(struct smcr_lgr *lgr)
{
	unsigned long next;

	do {
		next = RMB_NEVER;
	} while (!smcr_lgr_dead(lgr) && !rmbs_wanted(lgr) &&
		 rmb_free_idle(lgr, &next));
	return next;
}

/*
 * Register a new RMB and announce it to the peer. The RMB is linked only when the peer
 * knows its RToken (LLC-55). If the peer refuses the RMB, it is freed. The next connection
 * that needs an RMB begins a new attempt (LLC-60).
 */
static int rmb_publish(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	int rc;

	rc = smcr_lgr_confirm_rkey(lgr, rmb);
	smcr_race(lgr->sn->net, "rmb-publish");
	if (!rc)
		trace_smcr_rmb(lgr->id, rmb->id, "confirm", rmb->bsize);
	mutex_lock(&lgr->rmbs.mutex);
	if (!rc)
		smcr_rmb_link(lgr, rmb);
	else
		smcr_rmb_free_locked(rmb);
	mutex_unlock(&lgr->rmbs.mutex);
	return rc;
}

/*
 * Create an RMB in lgr->rmbs.off. The RMB is in that list before the link is put, so that
 * smcr_rmb_leave_dev() finds the RMB when the last link on the device is freed.
 */
static struct smcr_rmb *rmb_create_off(struct smcr_lgr *lgr, u8 bsize, u32 n,
				       bool wanted)
{
	struct smcr_link *link = smcr_lgr_conn_link(lgr, NULL);
	struct smcr_rmb *rmb;

	if (!link)
		return ERR_PTR(-EIO);
	/* try smaller RMBs only if a connection waits for one */
	rmb = wanted ? smcr_rmb_create_some(lgr, link, bsize, n) :
		       smcr_rmb_create(lgr, link, bsize, n);
	if (!IS_ERR(rmb)) {
		mutex_lock(&lgr->rmbs.mutex);
		list_add(&rmb->node, &lgr->rmbs.off);
		rmb->off = true;
		mutex_unlock(&lgr->rmbs.mutex);
	}
	smcr_link_put(link);
	return rmb;
}

static int rmb_build(struct smcr_lgr *lgr, u8 bsize, u32 n, bool wanted)
{
	struct smcr_rmb *rmb = rmb_create_off(lgr, bsize, n, wanted);

	return IS_ERR(rmb) ? PTR_ERR(rmb) : rmb_publish(lgr, rmb);
}

/* Number of elements for the next RMB of a class; 0: none is needed, or none is allowed */
static u32 rmb_due(struct smcr_lgr *lgr, u8 bsize, bool wanted)
{
	lockdep_assert_held(&lgr->rmbs.mutex);
	if (smcr_rmb_limit_reached(lgr))
		return 0;
	if (wanted ? !!smcr_rmb_with_room(lgr, bsize) :
		     !smcr_rmb_class_low(lgr, bsize) ||
		     time_before(jiffies, lgr->rmbs.pause))
		return 0;
	return smcr_rmb_elems_wanted(lgr, bsize);
}

/*
 * Add the next RMB of a class if a connection waits for it. Also add it ahead of need, if
 * few elements are free, so that later connections do not have to wait (RMB-10).
 */
static void rmb_prepare(struct smcr_lgr *lgr, u8 bsize)
{
	struct smcr_rmb_want *want = &lgr->rmbs.want[bsize];
	struct mem_cgroup *memcg, *old;
	bool wanted;
	int rc = 0;
	u32 n;

	mutex_lock(&lgr->rmbs.mutex);
	wanted = want->wanted;
	memcg = smcr_memcg_get(want->payer);
	n = rmb_due(lgr, bsize, wanted);
	if (!n && wanted && smcr_rmb_limit_reached(lgr))
		rc = -ENOSPC;
	mutex_unlock(&lgr->rmbs.mutex);
	if (!n && !wanted)
		goto out;
	if (n) {
		old = set_active_memcg(memcg);
		rc = rmb_build(lgr, bsize, n, wanted);
		set_active_memcg(old);
	}

	mutex_lock(&lgr->rmbs.mutex);
	/*
	 * A success does not reset want->full, the memory cgroup that last had no room. The
	 * new RMB may be charged to another one, while want->full still has no room.
	 */
	if (rc == -EDQUOT)
		swap(want->full, memcg);
	if (rc == -EREMOTEIO || rc == -EAGAIN || smcr_rmb_short(rc))
		lgr->rmbs.pause = jiffies + smcr_rmb_idle_time(lgr);
	/* if an attempt ahead of need fails, a request made during it gets its own attempt */
	if (wanted || !rc) {
		WRITE_ONCE(want->wanted, false);
		mem_cgroup_put(want->payer);	/* the next request sets it */
		want->payer = NULL;
		want->rc = rc;
		WRITE_ONCE(want->tries, want->tries + 1);
	}
	mutex_unlock(&lgr->rmbs.mutex);
	wake_up_all(&lgr->wait);
out:
	mem_cgroup_put(memcg);
}

static void rmbs_prepare(struct smcr_lgr *lgr)
{
	u8 i;

	if (smcr_lgr_forming(lgr))
		return;
	for (i = 0; i <= SMCR_BSIZE_MAX && READ_ONCE(lgr->live); i++)
		rmb_prepare(lgr, i);
}

/**
 * smcr_rmb_work() - housekeeping of a group's RMBs
 * @work: lgr->rmbs.work, which owns a reference on the group
 *
 * While an element is in quarantine, or an RMB is to be freed, the work queues itself
 * again. Its delay is never longer than a quarantine, which takes T_ABORT. The exception is
 * a T_ABORT below 100 ms: then this function passes 100 ms. So a work that is queued already
 * when a quarantine begins runs soon enough, and its delay need not be shortened.
 */
void smcr_rmb_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, rmbs.work);
	unsigned long next = RMB_NEVER;

	if (!smcr_lgr_dead(lgr)) {
		rmbs_prepare(lgr);
		next = rmbs_end_quarantine(lgr);
		next = min(next, rmbs_free_idle(lgr));
	}
	if (next != RMB_NEVER && !smcr_lgr_dead(lgr))
		smcr_rmb_work_arm(lgr, clamp(next, max(HZ / 10, 1UL),
					     max(smcr_rmb_quarantine(lgr),
						 HZ / 10)));
	smcr_lgr_put(lgr);
}

/**
 * smcr_lgr_kick_rmb_work() - queue the RMB housekeeping, without delay
 * @lgr: group
 *
 * Context: any.
 */
void smcr_lgr_kick_rmb_work(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_rmb_wq, &lgr->rmbs.work, 0))
		smcr_lgr_put(lgr);
}
