// SPDX-License-Identifier: GPL-2.0-only
/*
 * CONFIRM RKEY and DELETE RKEY of ours (RFC 7609 3.5.5.2).
 */
#include "lgr/kllc.h"
#include "base/netns.h"
#include "lgr/llc_impl.h"

/*
 * An own RKEY exchange: 0 and the reply, whatever it says. -EBUSY another
 * exchange is under way (LLC-15); no reply: the link has failed (LLC-63).
 */
static int smcr_llc_rkey_xchg(struct smcr_lgr *lgr, const struct smcr_llc *msg,
			      struct smcr_llc *answer)
{
	bool busy;
	int rc;

	spin_lock_bh(&lgr->llc_lock);
	busy = lgr->seq.xchg != SMCR_XCHG_NONE;
	if (!busy) {
		lgr->seq.xchg = SMCR_XCHG_RKEY;
		lgr->seq.awaits = msg->type;
		lgr->seq.awaits_reply = true;
		lgr->answer_valid = false;
	}
	spin_unlock_bh(&lgr->llc_lock);
	if (busy)
		return -EBUSY;

	rc = smcr_llc_send(lgr, msg);
	if (!rc)
		rc = smcr_llc_wait(lgr, answer, READ_ONCE(lgr->sn->knobs.t_llc));
	smcr_llc_done(lgr);
	if (rc == -ETIMEDOUT) {
		smcr_count(lgr->sn, SMCR_CNT_T_LLC);
		smcr_llc_fail(lgr, SMCR_R_LLC_TIMEOUT);
	}
	return rc;
}

/* 0; -EAGAIN not now; -EREMOTEIO; -ENOTCONN, -ETIMEDOUT with the link failed */
static int smcr_llc_confirm_rkey_once(struct smcr_lgr *lgr,
				      const struct smcr_llc *msg)
{
	const struct smcr_llc_confirm_rkey *ck;
	struct smcr_llc answer;
	int rc;

	rc = smcr_llc_rkey_xchg(lgr, msg, &answer);
	if (rc)
		return rc == -EBUSY ? -EAGAIN : rc;
	ck = &answer.confirm_rkey;
	if (ck->rkey != msg->confirm_rkey.rkey) {	/* an echo it is not */
		smcr_llc_fail(lgr, SMCR_R_LLC_RKEY);
		return -ENOTCONN;
	}
	if (!ck->negative)
		return 0;
	net_info_ratelimited("smcr: link group %u: peer refuses RKey 0x%x%s\n",
			     lgr->id, ck->rkey, ck->retry ? " for now" : "");
	return ck->retry ? -EAGAIN : -EREMOTEIO;
}

/*
 * The peer, a server, changes the group (LLC-77, LLC-82). What it told us of
 * that came before its refusal and has been answered, so it is over for us; a
 * peer that says so all the time is asked no more.
 */
#define SMCR_LLC_RKEY_TRIES	4
#define SMCR_LLC_RKEY_PAUSE	msecs_to_jiffies(50)

/**
 * smcr_llc_confirm_rkey() - tell the peer of a new RMB
 * @lgr: active group
 * @rkey: key on the group's link
 * @va: address of the RMB there
 *
 * With one link the first entry is the whole set (LLC-56).
 *
 * Context: process, sleeps up to two times T_LLC.
 * Return: 0 when the peer knows the RMB; -EREMOTEIO it does not want it;
 * -EAGAIN not now, several times; -ENOTCONN or -ETIMEDOUT: the link has failed.
 */
int smcr_llc_confirm_rkey(struct smcr_lgr *lgr, u32 rkey, u64 va)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = rkey, .va = va },
	};
	unsigned long end = jiffies + smcr_knob_jiffies(lgr->sn, t_llc);
	int tries, rc;

	for (tries = 1; ; tries++) {
		rc = smcr_llc_confirm_rkey_once(lgr, &msg);
		if (rc != -EAGAIN || tries == SMCR_LLC_RKEY_TRIES ||
		    time_after(jiffies, end))
			return rc;
		wait_event_timeout(lgr->wait, smcr_lgr_state(lgr) ==
				   SMCR_LGR_ST_DEAD,
				   (tries - 1) * SMCR_LLC_RKEY_PAUSE);
	}
}

/**
 * smcr_llc_delete_rkey() - withdraw an RMB from the peer
 * @lgr: group
 * @rkey: key on the group's link
 *
 * Context: process, sleeps up to T_LLC.
 * Return: 0 when the peer has forgotten the key or never knew it (LLC-68);
 * else the RMB must be kept.
 */
int smcr_llc_delete_rkey(struct smcr_lgr *lgr, u32 rkey)
{
	struct smcr_llc msg = {
		.type = SMCR_LLC_DELETE_RKEY,
		.delete_rkey = { .count = 1, .rkey = { rkey } },
	};
	struct smcr_llc answer;
	int rc;

	rc = smcr_llc_rkey_xchg(lgr, &msg, &answer);
	if (!rc && answer.delete_rkey.negative)
		net_info_ratelimited("smcr: link group %u, peer %*phN does not know RKey 0x%x\n",
				     lgr->id, (int)sizeof(lgr->peer.id),
				     lgr->peer.id, rkey);
	return rc;
}
