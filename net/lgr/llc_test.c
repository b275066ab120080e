// SPDX-License-Identifier: GPL-2.0-only
/*
 * TEST LINK: when a link is tested, and what follows from the outcome (RFC 7609 4.5.3,
 * Documentation/keepalive.rst).
 */
#include <linux/random.h>
#include "base/netns.h"
#include "lgr/lgr.h"
#include "lgr/lgr_run_impl.h"
#include "lgr/llc_test.h"

static void llc_arm_test(struct smcr_lgr *lgr, unsigned long delay)
{
	if (!delay)
		return;
	smcr_lgr_hold(lgr);
	/* the queued work has a reference, which must not keep a group that has ended */
	if (!queue_delayed_work(smcr_wq, &lgr->test.work, delay) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test.work)))
		smcr_lgr_put(lgr);
}

/* As llc_arm_test(), but if the work is queued already, @delay replaces its delay */
static void llc_test_in(struct smcr_lgr *lgr, unsigned long delay)
{
	smcr_lgr_hold(lgr);
	if (mod_delayed_work(smcr_wq, &lgr->test.work, delay) ||
	    (smcr_lgr_state(lgr) == SMCR_LGR_ST_DEAD &&
	     cancel_delayed_work(&lgr->test.work)))
		smcr_lgr_put(lgr);
}

/**
 * smcr_llc_start() - start to test idle links with TEST LINK
 * @lgr: group that has just become ACTIVE
 */
void smcr_llc_start(struct smcr_lgr *lgr)
{
	llc_arm_test(lgr, smcr_knob_jiffies(lgr->sn, t_testlink));
}

/* After smcr_llc_test_soon(), a link is tested if nothing has arrived on it for this time */
#define SMCR_LLC_TEST_SOON	HZ

/*
 * Is a TEST LINK with timer T_LLC under way on each live link? A TEST LINK for a keepalive
 * (test.patient) has another timer, TCP_KEEPINTVL, and does not count.
 */
static bool llc_testing(const struct smcr_lgr *lgr)
{
	unsigned long live = READ_ONCE(lgr->live);
	unsigned int i;

	for_each_set_bit(i, &live, SMCR_SLOTS)
		if (!READ_ONCE(lgr->slot[i].test.pending) ||
		    READ_ONCE(lgr->slot[i].test.patient))
			return false;
	return true;
}

/**
 * smcr_llc_test_soon() - test idle links soon, as a connection waits for completions
 * @lgr: group
 *
 * TEST LINK is sent on a link when nothing has arrived there for SMCR_LLC_TEST_SOON, not only
 * after t_testlink, so that a dead peer is noticed soon. TEST LINK also makes up for a lost
 * RDMA acknowledgment: its own acknowledgment covers all that was posted before it.
 *
 * Context: any.
 */
void smcr_llc_test_soon(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE ||
	    llc_testing(lgr) || xchg(&lgr->test.soon, 1))
		return;
	llc_test_in(lgr, SMCR_LLC_TEST_SOON);
}

/**
 * smcr_llc_test_update() - recompute when TEST LINK is due
 * @lgr: group
 *
 * Context: any.
 */
void smcr_llc_test_update(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) == SMCR_LGR_ST_ACTIVE)
		llc_test_in(lgr, 0);
}

/**
 * smcr_llc_test_now() - verify that the peer still has its end of each link
 * @lgr: group
 *
 * TEST LINK is sent on each link now, even if a message has just arrived there. A link on
 * which TEST LINK is not answered within T_LLC fails.
 *
 * Context: any.
 */
void smcr_llc_test_now(struct smcr_lgr *lgr)
{
	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		return;
	xchg(&lgr->test.now, 1);
	smcr_llc_test_update(lgr);
}

/* Process a TEST LINK, request or reply, from the peer. Context: the group's work. */
void smcr_llc_got_test(struct smcr_lgr *lgr, u8 slot,
		       const struct smcr_llc *msg)
{
	enum smcr_link_test_reply what;
	struct smcr_llc reply = *msg;

	if (!msg->reply) {
		smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_RX);
		reply.reply = true;
		smcr_llc_send(lgr, slot, &reply, SMCR_LGR_NO_REPORT, 0);
		return;
	}
	spin_lock_bh(&lgr->llc.lock);
	what = smcr_link_test_reply(&lgr->slot[slot].test,
				    msg->test_link.data);
	spin_unlock_bh(&lgr->llc.lock);
	switch (what) {
	case SMCR_LINK_TEST_GOOD:
		smcr_lgr_clear_suspect(lgr);
		smcr_llc_test_update(lgr);
		break;
	case SMCR_LINK_TEST_STRAY:
		smcr_llc_fail(lgr, slot, SMCR_R_LLC_UNEXPECTED);
		break;
	case SMCR_LINK_TEST_WRONG:
		smcr_llc_fail(lgr, slot, SMCR_R_LLC_TEST_DATA);
		break;
	}
}

/*
 * Jiffies until a test of the link is due: until nothing has arrived on it for @watch, or
 * until smcr_link_stuck(link, watch) may become true. 0 or less: a test is due now.
 */
static long llc_silent_in(const struct smcr_link *link,
			  unsigned long watch)
{
	long left = READ_ONCE(link->last_rx) + watch - jiffies;

	if (smcr_link_stuck(link, watch))
		return 0;
	if (left > 0 && atomic_read(&link->n_pend))	/* the link may be stuck earlier */
		left = clamp((long)(READ_ONCE(link->last_tx) + watch -
				    jiffies), 1L, left);
	return left;
}

/* Arguments for the check of each link */
struct llc_look {
	unsigned long watch;	/* test after so many jiffies without a message; 0: never */
	bool verify;		/* test now, even if a message has just arrived */
};

/*
 * Check one link: send TEST LINK, or fail the link, if that is due. If neither is due, set
 * *@waits: a message arrived less than @look->watch ago, or a TEST LINK is not answered yet.
 * Returns jiffies until the next check of the link; LONG_MAX: no check is needed.
 */
static long llc_test_link(struct smcr_lgr *lgr, struct smcr_link *link,
			  const struct llc_look *look, bool *waits)
{
	struct smcr_llc msg = { .type = SMCR_LLC_TEST_LINK };
	struct smcr_link_test *test = &lgr->slot[link->slot].test;
	long next = LONG_MAX, quiet = LONG_MAX;
	struct smcr_link_test_facts facts = { };
	enum smcr_link_test_act what;
	struct smcr_keepalive ka;
	u8 data[SMCR_TEST_DATA];

	if (look->watch)
		quiet = llc_silent_in(link, look->watch);
	smcr_lgr_owner_ops->keepalive_due(link, &ka);
	get_random_bytes(data, sizeof(data));
	facts.now = jiffies;
	facts.t_llc = max(smcr_knob_jiffies(lgr->sn, t_llc), 1UL);
	facts.idle = look->verify || quiet <= 0;
	facts.last_rx = READ_ONCE(link->last_rx);
	facts.keep_in = ka.left;
	facts.keep_intvl = ka.intvl;
	facts.keep_cnt = ka.cnt;
	facts.data = data;

	spin_lock_bh(&lgr->llc.lock);
	what = smcr_link_test_step(test, &facts, &next);
	memcpy(msg.test_link.data, test->data, sizeof(test->data));
	spin_unlock_bh(&lgr->llc.lock);

	switch (what) {
	case SMCR_LINK_TEST_WAIT:
		*waits = true;
		break;
	case SMCR_LINK_TEST_SEND:
		smcr_count(lgr->sn, SMCR_CNT_TEST_LINK_TX);
		/* if even the reserve of the send queue has no room, the link fails (LLC-12) */
		if (smcr_llc_post(lgr, link, &msg, SMCR_LGR_NO_REPORT, 0))
			smcr_link_fail(link, SMCR_R_LINK_ERROR);
		break;
	case SMCR_LINK_TEST_FAIL:
		smcr_count(lgr->sn, SMCR_CNT_T_TESTLINK);
		smcr_link_fail(link, SMCR_R_LLC_TIMEOUT);
		break;
	}
	return quiet > 0 ? min(next, quiet) : next;
}

/*
 * TEST LINK is sent when nothing has arrived on a link for a while, and when the keepalive
 * of a connection needs it. Links without connections are tested, too: otherwise, if a server
 * disappears, its client would keep the group for ever.
 */
void smcr_llc_test_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(to_delayed_work(work),
					    struct smcr_lgr, test.work);
	unsigned long live = READ_ONCE(lgr->live);
	struct llc_look look = { };
	bool probe, waits = false;
	struct smcr_link *link;
	long next = LONG_MAX;
	unsigned int i;

	if (smcr_lgr_state(lgr) != SMCR_LGR_ST_ACTIVE)
		goto out;
	look.watch = smcr_knob_jiffies(lgr->sn, t_testlink);
	probe = xchg(&lgr->test.soon, 0);
	if (probe)
		look.watch = SMCR_LLC_TEST_SOON;
	look.verify = xchg(&lgr->test.now, 0);
	for_each_set_bit(i, &live, SMCR_SLOTS) {
		link = smcr_lgr_link_get(lgr, i);
		if (link)
			next = min(next, llc_test_link(lgr, link, &look,
						       &waits));
		smcr_link_put(link);
	}
	/*
	 * Some link needed no test yet, so check again. If a TEST LINK is under way on each live
	 * link, this work runs again when one of these tests has ended, so it is enough to set
	 * test.soon. Otherwise check after SMCR_LLC_TEST_SOON.
	 */
	if (probe && waits) {
		if (llc_testing(lgr))
			WRITE_ONCE(lgr->test.soon, 1);
		else
			smcr_llc_test_soon(lgr);
	}
	if (next != LONG_MAX)
		llc_arm_test(lgr, next);
out:
	smcr_lgr_put(lgr);
}
