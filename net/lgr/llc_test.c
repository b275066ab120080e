// SPDX-License-Identifier: GPL-2.0-only
/*
 * TEST LINK: when a link is tested, and what becomes of that (RFC 7609 4.5.3,
 * Documentation/keepalive.rst).
 */
#include <linux/random.h>
#include "lgr/kllc.h"
#include "base/netns.h"
#include "lgr/llc_impl.h"

static void smcr_llc_arm_test(struct smcr_lgr *lgr, unsigned long delay)
{
	if (!delay)
		return;
	smcr_lgr_hold(lgr);
	/* a group that has ended meanwhile is not kept for that long */
	if (!queue_delayed_work(smcr_wq, &lgr->test_work, delay) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test_work)))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_start() - the group is active: watch idle links with TEST LINK
 * @lgr: group
 */
void smcr_llc_start(struct smcr_lgr *lgr)
{
	smcr_llc_arm_test(lgr, smcr_knob_jiffies(lgr->sn, t_testlink));
}

/* A link with a pending close is looked after this soon */
#define SMCR_LLC_PROBE	HZ

/**
 * smcr_llc_probe() - somebody waits for completions on this link
 * @lgr: group
 *
 * If the link falls silent, TEST LINK is sent soon and not after t_testlink:
 * its acknowledgment covers what was posted before, should that one be lost,
 * and a dead peer shows. Context: any.
 */
void smcr_llc_probe(struct smcr_lgr *lgr)
{
	/* one that is under way has its T_LLC, unless it is keepalive's */
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE ||
	    (READ_ONCE(lgr->seq.test_pending) &&
	     !READ_ONCE(lgr->test_patient)) || xchg(&lgr->probe, 1))
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->test_work, SMCR_LLC_PROBE))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_look() - when TEST LINK is due may have changed
 * @lgr: group
 *
 * Context: any.
 */
void smcr_llc_look(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->test_work, 0) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test_work)))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_verify() - is the peer's end of the link still there?
 * @lgr: group
 *
 * TEST LINK is sent now, silence or not, and fails the link if it is not
 * answered within T_LLC. Context: any.
 */
void smcr_llc_verify(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	xchg(&lgr->verify, 1);
	smcr_llc_look(lgr);
}

void smcr_llc_reply_test(struct smcr_lgr *lgr, struct smcr_llc *msg)
{
	smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_RX);
	msg->reply = true;
	smcr_llc_reply(lgr, msg);
}

void smcr_llc_got_test_reply(struct smcr_lgr *lgr, const struct smcr_llc *msg)
{
	bool same;

	spin_lock_bh(&lgr->llc_lock);
	same = !memcmp(lgr->test_data, msg->test_link.data,
		       sizeof(lgr->test_data));
	lgr->seq.test_pending = false;
	lgr->test_keep = false;
	lgr->test_patient = false;
	lgr->test_owed--;
	spin_unlock_bh(&lgr->llc_lock);
	if (!same) {
		smcr_llc_fail(lgr, SMCR_R_LLC_TEST_DATA);
		return;
	}
	smcr_lgr_trust(lgr);
	smcr_llc_look(lgr);
}

enum smcr_llc_test {
	SMCR_LLC_TEST_WAIT,
	SMCR_LLC_TEST_SEND,
	SMCR_LLC_TEST_FAIL,
};

/*
 * The table in Documentation/keepalive.rst. @idle: the link is to be tested,
 * whatever the connections want. *@next: when to look again, jiffies.
 */
static enum smcr_llc_test smcr_llc_test_step(struct smcr_lgr *lgr, bool idle,
					     const struct smcr_keepalive *ka,
					     long *next)
{
	long t_llc = max(smcr_knob_jiffies(lgr->sn, t_llc), 1UL);

	lockdep_assert_held(&lgr->llc_lock);
	if (!lgr->seq.test_pending) {
		if (!idle && ka->left > 0) {
			*next = ka->left;
			return SMCR_LLC_TEST_WAIT;
		}
		lgr->seq.test_pending = true;
		lgr->test_keep = ka->left <= 0;
		lgr->test_patient = !idle;
		lgr->test_left = ka->cnt - 1;
		lgr->test_begin = jiffies;
		lgr->test_intvl = ka->intvl;
		if (!lgr->test_owed)
			get_random_bytes(lgr->test_data,
					 sizeof(lgr->test_data));
	} else {
		/* only a silent peer gets keepalive's interval instead of T_LLC */
		if (lgr->test_patient &&
		    (idle || time_after(READ_ONCE(lgr->link->last_rx),
					lgr->test_at))) {
			lgr->test_patient = false;
			lgr->test_due = jiffies + t_llc;
		}
		*next = lgr->test_due - jiffies;
		if (*next > 0)
			return SMCR_LLC_TEST_WAIT;
		if (!lgr->test_patient)
			return SMCR_LLC_TEST_FAIL;
		if (lgr->test_left <= 0) {
			/* the link is shared: a short keepalive does not fail it before T_LLC */
			*next = lgr->test_begin + t_llc - jiffies;
			return *next > 0 ? SMCR_LLC_TEST_WAIT :
					   SMCR_LLC_TEST_FAIL;
		}
		lgr->test_left--;
	}
	lgr->test_owed++;
	*next = lgr->test_patient ? lgr->test_intvl : t_llc;
	lgr->test_at = jiffies;
	lgr->test_due = jiffies + *next;
	return SMCR_LLC_TEST_SEND;
}

/* How long until the link was silent for @watch; 0 or less: it is. */
static long smcr_llc_silent_in(const struct smcr_link *link,
			       unsigned long watch)
{
	long left = READ_ONCE(link->last_rx) + watch - jiffies;

	if (smcr_link_stuck(link, watch))
		return 0;
	if (left > 0 && atomic_read(&link->n_pend))	/* stuck before? */
		left = clamp((long)(READ_ONCE(link->last_tx) + watch -
				    jiffies), 1L, left);
	return left;
}

/*
 * TEST LINK is sent when the link was silent for a while, also without
 * connections, since a client would otherwise keep the group of a server that is
 * gone for ever; and when the keepalive of a connection asks for it.
 */
void smcr_llc_test_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, test_work);
	struct smcr_llc msg = { .type = SMCR_LLC_TEST_LINK };
	unsigned long watch = smcr_knob_jiffies(lgr->sn, t_testlink);
	long next = LONG_MAX, quiet = LONG_MAX;
	struct smcr_keepalive ka;
	enum smcr_llc_test what;
	bool probe, idle, wait;

	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		goto out;
	probe = xchg(&lgr->probe, 0);
	if (probe)
		watch = SMCR_LLC_PROBE;
	if (watch)
		quiet = smcr_llc_silent_in(lgr->link, watch);
	idle = xchg(&lgr->verify, 0) || quiet <= 0;
	smcr_lgr_above->keepalive_due(lgr, &ka);

	spin_lock_bh(&lgr->llc_lock);
	wait = lgr->seq.test_pending;
	what = smcr_llc_test_step(lgr, idle, &ka, &next);
	memcpy(msg.test_link.data, lgr->test_data, sizeof(lgr->test_data));
	spin_unlock_bh(&lgr->llc_lock);

	switch (what) {
	case SMCR_LLC_TEST_WAIT:
		if (wait && probe)	/* armed meanwhile */
			WRITE_ONCE(lgr->probe, 1);
		if (!wait && probe)	/* not silent yet: look again as soon */
			smcr_llc_probe(lgr);
		break;
	case SMCR_LLC_TEST_SEND:
		smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_TX);
		if (!smcr_llc_send(lgr, &msg))
			break;
		/* not even the reserve of the send queue is left (LLC-12) */
		smcr_llc_fail(lgr, SMCR_R_LINK_ERROR);
		goto out;
	case SMCR_LLC_TEST_FAIL:
		smcr_count(lgr->sn, SMCR_CNT_T_TESTLINK);
		smcr_llc_fail(lgr, SMCR_R_LLC_TIMEOUT);
		goto out;
	}
	if (quiet > 0)
		next = min(next, quiet);
	if (next != LONG_MAX)
		smcr_llc_arm_test(lgr, next);
out:
	smcr_lgr_put(lgr);
}
