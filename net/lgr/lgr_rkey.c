// SPDX-License-Identifier: GPL-2.0-only
/*
 * The own CONFIRM RKEY and DELETE RKEY: requests to the state machine of a group, and
 * their outcome (RFC 7609 3.5.5.2).
 */
#include "base/netns.h"
#include "lgr/lgr.h"
#include "lgr/lgr_rkey.h"
#include "lgr/lgr_run.h"
#include "lgr/lgr_run_impl.h"
#include "lgr/rmb.h"
#include "lgr/rmb_impl.h"

/* PREPARE: wake rkey_xchg_wait(), which then registers the RMB */
void smcr_lgr_rkey_prepare(struct smcr_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	WRITE_ONCE(lgr->llc.rkey.prepare, true);
	spin_unlock_bh(&lgr->llc.lock);
	wake_up_all(&lgr->wait);
}

/* RKEY_DONE: wake rkey_xchg_wait() with the outcome @res, enum smcr_rkey_res */
void smcr_lgr_rkey_done(struct smcr_lgr *lgr, u8 res)
{
	spin_lock_bh(&lgr->llc.lock);
	/* the peer has accepted the RMB: links that are added later announce it, too */
	if (lgr->llc.rkey.rmb && !lgr->llc.rkey.del && res == SMCR_RKEY_OK)
		WRITE_ONCE(lgr->llc.rkey.rmb->announced, true);
	WRITE_ONCE(lgr->llc.rkey.res, res);
	WRITE_ONCE(lgr->llc.rkey.done, true);
	spin_unlock_bh(&lgr->llc.lock);
	wake_up_all(&lgr->wait);
}

static void rkey_begin(struct smcr_lgr *lgr, struct smcr_rmb *rmb, bool del)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.rkey = (struct smcr_llc_rkey) { .rmb = rmb, .del = del };
	spin_unlock_bh(&lgr->llc.lock);
	smcr_lgr_post(lgr, SMCR_LGR_EV_WANT_RKEY, 0);
}

/* Record RKey and address of the RMB on a link of the group */
static void rkey_name(struct smcr_lgr *lgr, const struct smcr_rmb *rmb,
		      const struct smcr_link *link)
{
	struct smcr_llc_rkey *rkey = &lgr->llc.rkey;

	spin_lock_bh(&lgr->llc.lock);
	rkey->on[link->slot].rkey = smcr_rmb_rkey(rmb, link);
	rkey->on[link->slot].va = smcr_rmb_va(rmb, link);
	rkey->named |= BIT(link->slot);
	spin_unlock_bh(&lgr->llc.lock);
}

/* Has the state machine ordered PREPARE? Clears the order */
static bool rkey_prepare_due(struct smcr_lgr *lgr)
{
	bool due;

	spin_lock_bh(&lgr->llc.lock);
	due = lgr->llc.rkey.prepare;
	WRITE_ONCE(lgr->llc.rkey.prepare, false);
	spin_unlock_bh(&lgr->llc.lock);
	return due;
}

/*
 * The registration of the RMB has failed, and so has the link. The device may have
 * registered the MR all the same, so another link on that device gets another MR.
 */
static void rkey_undo(struct smcr_lgr *lgr, struct smcr_rmb *rmb,
		      struct smcr_link *link)
{
	smcr_slot_link_stop(link);	/* afterwards no REG_MR is under way */
	mutex_lock(&lgr->rmbs.mutex);
	smcr_rmb_drop_mr(rmb, link->mem.d);
	mutex_unlock(&lgr->rmbs.mutex);
}

/*
 * Register the RMB on all live links and record its RKeys; for DELETE RKEY only record
 * them. If the registration fails on a link, that link has failed, and the exchange goes
 * on with the other links. If there is no memory for an MR, the exchange ends, and no link
 * fails.
 */
static int rkey_register(struct smcr_lgr *lgr, struct smcr_rmb *rmb, bool del)
{
	unsigned long live = READ_ONCE(lgr->live);
	struct smcr_link *link;
	unsigned int i;
	int rc = 0;

	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.rkey.named = 0;
	spin_unlock_bh(&lgr->llc.lock);
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = smcr_lgr_link_get(lgr, i);
		if (!link)
			continue;
		if (rc != -ENOMEM && !del)
			rc = smcr_rmb_register(rmb, link);
		if (rc && rc != -ENOMEM)
			rkey_undo(lgr, rmb, link);
		/* the reference on the link keeps the MR on the link's device */
		if (!rc && rmb->mr[link->mem.d])
			rkey_name(lgr, rmb, link);
		smcr_link_put(link);
	}
	spin_lock_bh(&lgr->llc.lock);
	if (rc != -ENOMEM && lgr->llc.rkey.named)
		rc = 0;
	/*
	 * DELETE RKEY: if an RMB has no RKey on any link, the peer does not know it
	 * (LLC-68), and it can be freed. But the loop above has only looked at live links.
	 * The peer may know an RKey on another link if no link was live, or if a link that
	 * drains may become live again (lgr->spare). Then return -EAGAIN.
	 */
	lgr->llc.rkey.ok = !rc && (lgr->llc.rkey.named || !del);
	if (del && !lgr->llc.rkey.named && (!live || READ_ONCE(lgr->spare)))
		rc = -EAGAIN;
	lgr->llc.rkey.why = SMCR_R_MR_FAIL;
	spin_unlock_bh(&lgr->llc.lock);
	smcr_lgr_post(lgr, SMCR_LGR_EV_RKEY_READY, 0);
	return rc;
}

static bool rkey_woken(const struct smcr_lgr *lgr)
{
	return READ_ONCE(lgr->llc.rkey.done) ||
	       READ_ONCE(lgr->llc.rkey.prepare) ||
	       smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD;
}

/*
 * Wait for the end of one exchange. The state machine ends it in limited time, whatever
 * the peer does: every step has a timer. Returns 0; -EREMOTEIO the peer has refused;
 * -EAGAIN not possible now; -ENOTCONN the group has ended; else what smcr_rmb_register()
 * returned.
 */
static int rkey_xchg_wait(struct smcr_lgr *lgr, struct smcr_rmb *rmb, bool del)
{
	int rc = 0;

	for (;;) {
		wait_event(lgr->wait, rkey_woken(lgr));
		if (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD)
			return -ENOTCONN;
		if (READ_ONCE(lgr->llc.rkey.done))
			break;
		if (rkey_prepare_due(lgr))
			rc = rkey_register(lgr, rmb, del);
	}
	switch (READ_ONCE(lgr->llc.rkey.res)) {
	case SMCR_RKEY_OK:
		return 0;
	case SMCR_RKEY_REFUSED:
		return -EREMOTEIO;
	case SMCR_RKEY_FAILED:
		return rc ?: del ? 0 : -EIO;
	default:
		return -EAGAIN;
	}
}

static int rkey_xchg(struct smcr_lgr *lgr, struct smcr_rmb *rmb, bool del)
{
	int rc;

	rkey_begin(lgr, rmb, del);
	rc = rkey_xchg_wait(lgr, rmb, del);
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.rkey.rmb = NULL;
	spin_unlock_bh(&lgr->llc.lock);
	return rc;
}

/*
 * Maximum number of exchanges. After -EAGAIN the exchange is repeated. The cause is that
 * the peer is a server that is changing the group (LLC-77, LLC-82), or that no link could
 * carry the request.
 *
 * The first repetition follows at once: the server's messages about the change have come
 * before its refusal, and were answered, so the change is over on this side. Further
 * repetitions follow after pauses.
 */
#define RKEY_TRIES	4
#define RKEY_PAUSE	msecs_to_jiffies(50)

static int rkey_xchg_some(struct smcr_lgr *lgr, struct smcr_rmb *rmb, bool del)
{
	/*
	 * No exchange begins after this time. It is 2 T_LLC: if the peer does not answer,
	 * the link fails after T_LLC, and time is left to begin again over another link
	 * (FO-14).
	 */
	unsigned long end = jiffies + 2 * smcr_knob_jiffies(lgr->sn, t_llc);
	int tries, rc;

	for (tries = 1; ; tries++) {
		rc = rkey_xchg(lgr, rmb, del);
		if (!del && (rc == -EREMOTEIO || rc == -EAGAIN))
			net_info_ratelimited("link group %u: %s RMB %u\n",
					     lgr->id, rc == -EAGAIN ?
					     "peer does not know yet of" :
					     "peer refuses", rmb->id);
		if (rc != -EAGAIN || tries == RKEY_TRIES ||
		    time_after(jiffies, end))
			return rc;
		wait_event_timeout(lgr->wait, smcr_lgr_state(lgr) ==
				   SMCR_LGR_ST_DEAD, (tries - 1) * RKEY_PAUSE);
	}
}

/**
 * smcr_lgr_confirm_rkey() - register an RMB and announce it to the peer
 * @lgr: active group
 * @rmb: RMB; only the caller uses it
 *
 * Context: process, sleeps for the peer; the RMB work only.
 * Return: 0 when the peer has accepted the RMB; -EREMOTEIO the peer has refused it;
 * -EAGAIN not possible in several attempts; -ENOTCONN the group has ended; else what
 * smcr_rmb_register() returned.
 */
int smcr_lgr_confirm_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	return rkey_xchg_some(lgr, rmb, false);
}

/**
 * smcr_lgr_delete_rkey() - withdraw an RMB from the peer
 * @lgr: group
 * @rmb: RMB that is not used any more
 *
 * Context: process, sleeps for the peer; the RMB work only.
 * Return: 0 when the peer has dropped the RKey, or never had it (LLC-68). After an error
 * the RMB must be kept.
 */
int smcr_lgr_delete_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb)
{
	return rkey_xchg_some(lgr, rmb, true);
}
