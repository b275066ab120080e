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
 * they are cleared; nothing else touches an element in quarantine. Returns jiffies
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
 * Unlink an RMB that was idle for long, to lgr->rmbs.off; never the newest of its class,
 * which the next connection will use. *@next: jiffies until another RMB may be due.
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
			smcr_rmb_class_add_free(lgr, i, -(int)rmb->elems.n_free);
			return rmb;
		}
	}
	/* try again RMBs that were unlinked before and could not be withdrawn */
	list_for_each_entry(rmb, &lgr->rmbs.off, node) {
		left = time_left(rmb->idle_since, smcr_rmb_idle_time(lgr));
		if (!left)
			return rmb;
		*next = min(*next, left);
	}
	return NULL;
}

/*
 * Have the peer drop the RKey, before the RMB is freed (LLC-66). If several requests have
 * failed, it is not known whether the peer has dropped the RKey: the RMB stays, but its
 * elements are not given out any more.
 */
static int rmb_withdraw(struct smcr_rmb *rmb)
{
	smcr_count(rmb->lgr->sn, SMCR_CNT_T_RMB_FREE);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "withdraw", rmb->bsize);
	return smcr_lgr_delete_rkey(rmb->lgr, rmb);
}

/* Free one idle RMB; false if there is none, or the peer did not agree */
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

/* Does a connection wait for an RMB? If so, the work is queued again already */
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
 * Announce a new RMB, and put it into lgr->rmbs.list when it is registered and the peer
 * knows its RToken (LLC-55). An RMB that the peer refuses is freed; the next connection
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
 * Create an RMB in lgr->rmbs.off. It is in that list before the link is put, so that
 * smcr_rmb_leave_dev() finds it when the last link on the device is freed.
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

/* Number of elements for the next RMB of a class; 0: no RMB is needed, or allowed */
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
 * Add the next RMB of a class if a connection waits for it or, ahead of need, if few
 * elements are free, so that no connection has to wait (RMB-10).
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
	 * A success does not reset want->full, the memory cgroup that last had no room: the
	 * new RMB may be charged to another one, and want->full may still have no room.
	 */
	if (rc == -EDQUOT)
		swap(want->full, memcg);
	if (rc == -EREMOTEIO || rc == -EAGAIN || smcr_rmb_short(rc))
		lgr->rmbs.pause = jiffies + smcr_rmb_idle_time(lgr);
	/* if an attempt ahead of need fails, a request made meanwhile gets its own attempt */
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
 * again. No caller of smcr_rmb_work_arm() passes a delay longer than a quarantine, which
 * takes T_ABORT; only this function passes 100 ms if T_ABORT is shorter. So if the work is
 * queued already when a quarantine begins, it runs soon enough, and its delay need not be
 * shortened.
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
