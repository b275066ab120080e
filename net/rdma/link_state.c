// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of a link, as recorded by the link itself, and link failure.
 */
#include "base/netns.h"
#include "base/race.h"
#include "base/trace.h"
#include "rdma/link.h"
#include "rdma/link_impl.h"

const struct smcr_link_ops *smcr_link_owner_ops __ro_after_init;

/* Set link->st, which nothing else writes. False: it was ERR, which is final */
bool smcr_link_set_state(struct smcr_link *link, u8 st, enum smcr_reason why)
{
	lockdep_assert_held(&link->lock);
	if (link->st == SMCR_LINK_ST_ERR)
		return false;
	WRITE_ONCE(link->st, st);
	trace_smcr_link(link->lgr_id, READ_ONCE(link->num), st, why);
	return true;
}

/* Record the time from which on the link's connections have to move away */
void smcr_link_lost(struct smcr_link *link)
{
	lockdep_assert_held(&link->lock);
	if (!link->lost_at)
		WRITE_ONCE(link->lost_at, jiffies ?: 1);
}

/*
 * Record state @st after ib_modify_qp() has succeeded. -ENOTCONN: the link is
 * in ERR, as it has failed before this call.
 */
int smcr_link_advance(struct smcr_link *link, u8 st)
{
	bool ok;

	spin_lock_bh(&link->lock);
	ok = smcr_link_set_state(link, st, SMCR_R_NONE);
	spin_unlock_bh(&link->lock);
	return ok ? 0 : -ENOTCONN;
}

/**
 * smcr_link_fail() - end the use of a link that has failed
 * @link: link; the caller has a reference, or is a completion handler of the
 *	link
 * @why: reason
 *
 * Nothing is posted afterwards. The first call reports the failure to the owner
 * by @down of struct smcr_link_ops, if smcr_link_stop() has not begun. The
 * queue pair moves to ERR when the owner calls smcr_link_stop().
 *
 * Context: any up to softirq; a connection's lock may be held.
 */
void smcr_link_fail(struct smcr_link *link, enum smcr_reason why)
{
	bool first;

	spin_lock_bh(&link->lock);
	smcr_link_lost(link);
	first = !link->down_reported;
	link->down_reported = true;
	if (first)
		WRITE_ONCE(link->why, why);
	smcr_link_set_state(link, SMCR_LINK_ST_ERR, why);
	spin_unlock_bh(&link->lock);

	if (!first)
		return;
	smcr_race_atomic(link->sn->net, "link-fail");
	smcr_link_owner_ops->down(link, why);
}

static bool link_is_err(const struct smcr_link *link)
{
	return READ_ONCE(link->st) == SMCR_LINK_ST_ERR;
}

/* A work request has an error: fail the link. In ERR, it was only flushed */
void smcr_link_wc_error(struct smcr_link *link, const struct ib_wc *wc)
{
	if (link_is_err(link))
		return;
	net_dbg_ratelimited("link group %u: %s\n", link->lgr_id,
			    ib_wc_status_msg(wc->status));
	smcr_link_fail(link, SMCR_R_LINK_ERROR);
}

/*
 * Requests of a queue complete in the order in which they were posted. If a
 * completion is out of order, the device has reported one request twice, or it
 * has lost the completion of an earlier receive, and thus a message. The
 * completions of such a device cannot be relied on, so the link fails.
 */
void smcr_link_wc_order(struct smcr_link *link)
{
	net_warn_ratelimited("link group %u: device %s completes a request twice or out of order\n",
			     link->lgr_id,
			     smcr_dev_name(link->pid.dev).s);
	smcr_link_fail(link, SMCR_R_LINK_ERROR);
}

/* Subtract an ended request from @count; at 0, wake smcr_link_stop() */
void smcr_link_settle(struct smcr_link *link, atomic_t *count)
{
	if (atomic_dec_and_test(count) && wq_has_sleeper(&link->drain_wait))
		wake_up(&link->drain_wait);
}
