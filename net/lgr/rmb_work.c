// SPDX-License-Identifier: GPL-2.0-only
/*
 * Housekeeping of a group's RMBs, in one work for each group: another one before it
 * is needed, those that are idle, elements in quarantine.
 */
#include <linux/bitmap.h>
#include "core/clc.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr.h"
#include "base/memcg.h"
#include "base/netns.h"
#include "base/race.h"
#include "lgr/rmb.h"
#include "base/trace.h"
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
 * Release what was in quarantine long enough. rmbs.mutex is dropped while the
 * elements are cleared; nobody else touches one that is in quarantine.
 * Returns the time until the next one is due.
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
 * An RMB that was idle for long, unlinked; never the newest of its class, which
 * the next connection will want. *@next: when another one may be due.
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
			WRITE_ONCE(rmb->told, false);
			smcr_rmb_class_add_free(lgr, i, -(int)rmb->elems.n_free);
			return rmb;
		}
	}
	/* asked for in vain before */
	list_for_each_entry(rmb, &lgr->rmbs.off, node) {
		left = time_left(rmb->idle_since, smcr_rmb_idle_time(lgr));
		if (!left)
			return rmb;
		*next = min(*next, left);
	}
	return NULL;
}

/*
 * The peer forgets the RKey first (LLC-66). If it cannot be asked, not even several
 * times, it may have forgotten the key or not: the RMB stays, but gives out no
 * elements any more.
 */
static int rmb_withdraw(struct smcr_rmb *rmb)
{
	smcr_count(rmb->lgr->sn, SMCR_CNT_T_RMB_FREE);
	trace_smcr_rmb(rmb->lgr->id, rmb->id, "withdraw", rmb->bsize);
	return smcr_llc_delete_rkey(rmb->lgr, rmb);
}

/* One idle RMB; false when there is none or the peer did not agree */
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

/* Somebody waits: the work has been queued again */
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
 * Registered, and the peer knows its RToken (LLC-55). An RMB that the peer does
 * not want is gone; whoever needs one next asks again (LLC-60).
 */
static int rmb_publish(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	int rc;

	rc = smcr_llc_confirm_rkey(lgr, rmb);
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

/* In lgr->rmbs.off before its link is let go: it leaves devices like others */
static struct smcr_rmb *rmb_create_off(struct smcr_lgr *lgr, u8 bsize, u32 n,
				       bool wanted)
{
	struct smcr_link *link = smcr_lgr_conn_link(lgr, NULL);
	struct smcr_rmb *rmb;

	if (!link)
		return ERR_PTR(-EIO);
	/* ahead of need memory is not worth much effort */
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

/* How many elements the next RMB of a class shall have; 0: none is needed */
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
 * The next RMB of a class, if somebody waits for it or before somebody has to
 * (RMB-10).
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
	/* a success says nothing of what had no room */
	if (rc == -EDQUOT)
		swap(want->full, memcg);
	if (rc == -EREMOTEIO || rc == -EAGAIN || smcr_rmb_short(rc))
		lgr->rmbs.pause = jiffies + smcr_rmb_idle_time(lgr);
	/* who came while one was tried ahead of need gets a try of its own */
	if (wanted || !rc) {
		WRITE_ONCE(want->wanted, false);
		mem_cgroup_put(want->payer);	/* who asks next names one */
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
 * Runs again by itself while an element is in quarantine or an RMB is on its
 * way to be freed, at least every T_ABORT: whoever starts a quarantine finds
 * the work queued and need not shorten its delay.
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
 * smcr_lgr_kick_rmb_work() - let the RMB housekeeping run
 * @lgr: group; any context
 */
void smcr_lgr_kick_rmb_work(struct smcr_lgr *lgr)
{
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_rmb_wq, &lgr->rmbs.work, 0))
		smcr_lgr_put(lgr);
}
