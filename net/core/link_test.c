// SPDX-License-Identifier: GPL-2.0-only
/* TEST LINK of one link. See link_test.h. */
#include "env.h"
#include "link_test.h"

static long until(unsigned long when, unsigned long now)
{
	return (long)(when - now);
}

static void begin(struct smcr_link_test *t,
		  const struct smcr_link_test_facts *facts)
{
	SMCR_SET(t->pending, true);
	SMCR_SET(t->keep, facts->keep_in <= 0);
	SMCR_SET(t->patient, !facts->idle);
	t->longer = false;
	t->left = facts->keep_cnt - 1;
	t->intvl = facts->keep_intvl;
	t->begin = facts->now;
	if (!t->owed)
		memcpy(t->data, facts->data, sizeof(t->data));
}

/*
 * Extend the wait if a message of the peer has arrived after the probe was
 * sent, and less than T_LLC ago: the reply may be queued behind other messages,
 * for example while the peer drains the link. The wait is extended only once:
 * after that, the link fails even if the peer sends other messages (LLC-72).
 */
static bool extended(struct smcr_link_test *t,
		     const struct smcr_link_test_facts *facts, long *next)
{
	unsigned long due = facts->last_rx + (unsigned long)facts->t_llc;

	if (t->longer || until(facts->last_rx, t->at) <= 0 ||
	    until(due, facts->now) <= 0)
		return false;
	t->longer = true;
	t->due = due;
	*next = until(due, facts->now);
	return true;
}

/* A probe is unanswered. True: the next probe of keepalive is due. */
static bool next_probe(struct smcr_link_test *t,
		       const struct smcr_link_test_facts *facts,
		       enum smcr_link_test_act *act, long *next)
{
	/*
	 * Keepalive's interval is for a silent peer. If the peer sends
	 * messages, or the group has its own reason to test, the reply is due
	 * within T_LLC from now on.
	 */
	if (t->patient && (facts->idle || until(facts->last_rx, t->at) > 0)) {
		SMCR_SET(t->patient, false);
		t->due = facts->now + (unsigned long)facts->t_llc;
	}
	*act = SMCR_LINK_TEST_WAIT;
	*next = until(t->due, facts->now);
	if (*next > 0)
		return false;
	if (!t->patient && extended(t, facts, next))
		return false;
	*act = SMCR_LINK_TEST_FAIL;
	if (!t->patient)
		return false;
	if (t->left > 0) {
		t->left--;
		return true;
	}
	/* connections share the link: no failure within T_LLC of the first probe */
	*next = until(t->begin + (unsigned long)facts->t_llc, facts->now);
	if (*next > 0)
		*act = SMCR_LINK_TEST_WAIT;
	return false;
}

/**
 * smcr_link_test_step() - decide whether a link is tested now
 * @t: state
 * @facts: facts at this moment
 * @next: time until the next call, which comes earlier if one of the facts
 *	changes; LONG_MAX: no call is needed
 *
 * Return: what to do; SEND: send TEST LINK with @t->data.
 */
enum smcr_link_test_act
smcr_link_test_step(struct smcr_link_test *t,
		    const struct smcr_link_test_facts *facts, long *next)
{
	enum smcr_link_test_act act;

	if (t->pending) {
		if (!next_probe(t, facts, &act, next))
			return act;
	} else {
		if (!facts->idle && facts->keep_in > 0) {
			*next = facts->keep_in;
			return SMCR_LINK_TEST_WAIT;
		}
		begin(t, facts);
	}
	t->owed++;
	*next = t->patient ? t->intvl : facts->t_llc;
	t->at = facts->now;
	t->due = facts->now + (unsigned long)*next;
	return SMCR_LINK_TEST_SEND;
}

/**
 * smcr_link_test_reply() - a TEST LINK reply has arrived
 * @t: state of the link on which it came
 * @data: user data of the reply
 *
 * Return: whether the reply is in order, see enum smcr_link_test_reply.
 */
enum smcr_link_test_reply
smcr_link_test_reply(struct smcr_link_test *t, const u8 data[SMCR_TEST_DATA])
{
	if (!t->owed)
		return SMCR_LINK_TEST_STRAY;
	t->owed--;
	if (!t->pending)	/* the reply to another probe came before */
		return SMCR_LINK_TEST_GOOD;
	SMCR_SET(t->pending, false);
	SMCR_SET(t->keep, false);
	SMCR_SET(t->patient, false);
	return memcmp(t->data, data, sizeof(t->data)) ? SMCR_LINK_TEST_WRONG :
							SMCR_LINK_TEST_GOOD;
}
