// SPDX-License-Identifier: GPL-2.0-only
/* TEST LINK of one link: the table in Documentation/keepalive.rst. */
#include "ktap.h"

#include "link_test.h"

#include <limits.h>

static const u8 noise[SMCR_TEST_DATA] = { 1, 2, 3 };

static struct smcr_link_test_facts facts_at(unsigned long now)
{
	struct smcr_link_test_facts facts = {
		.now = now,
		.t_llc = 400,
		.keep_in = LONG_MAX,
		.data = noise,
	};

	return facts;
}

TEST(smcr_link_test_step__silent_link)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	long next;

	covers("LLC-72");
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, LONG_MAX);
	facts.idle = true;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_SEND);
	EXPECT_EQ(next, 400);
	EXPECT_MEM(t.data, noise, sizeof(noise));
	EXPECT_FALSE(t.keep);
	facts.now = 1399;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 1);
	facts.now = 1400;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_FAIL);
}

TEST(smcr_link_test_reply__what_came)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	u8 other[SMCR_TEST_DATA] = { 1, 2, 4 };
	long next;

	covers("LLC-71");
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_STRAY);
	facts.idle = true;
	smcr_link_test_step(&t, &facts, &next);
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_GOOD);
	EXPECT_FALSE(t.pending);
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_STRAY);
	smcr_link_test_step(&t, &facts, &next);
	EXPECT_EQ(smcr_link_test_reply(&t, other), SMCR_LINK_TEST_WRONG);
}

/* A connection's interval counts only as long as nothing arrives */
TEST(smcr_link_test_step__keepalive)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	long next;

	covers("LLC-72");
	facts.keep_in = 50;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 50);
	facts.now = 1050;
	facts.keep_in = 0;
	facts.keep_intvl = 1000;
	facts.keep_cnt = 2;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_SEND);
	EXPECT_EQ(next, 1000);
	EXPECT_TRUE(t.keep);
	/* the second probe has the same data, and there is none after it */
	facts.now = 2050;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_SEND);
	facts.now = 3050;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_FAIL);
	/* two replies are due: the first is the answer, the other is late */
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_GOOD);
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_GOOD);
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_STRAY);
}

TEST(smcr_link_test_step__heard_but_no_reply)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	long next;

	covers("LLC-72");
	facts.keep_in = 0;
	facts.keep_intvl = 100000;
	facts.keep_cnt = 9;
	smcr_link_test_step(&t, &facts, &next);
	facts.now = 1100;
	facts.last_rx = 1050;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 400);
	facts.now = 1500;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_FAIL);
}

/* The reply may follow other messages: T_LLC from these, but once */
TEST(smcr_link_test_step__heard_meanwhile)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	long next;

	covers("LLC-72");
	facts.idle = true;
	facts.last_rx = 990;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_SEND);
	facts.now = 1400;
	facts.last_rx = 1350;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 350);
	/* the reply arrives: the next probe has its full time again */
	facts.now = 1700;
	EXPECT_EQ(smcr_link_test_reply(&t, noise), SMCR_LINK_TEST_GOOD);
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_SEND);
	EXPECT_EQ(next, 400);
	/* other messages arrive, but no reply */
	facts.now = 2100;
	facts.last_rx = 2099;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 399);
	facts.now = 2498;
	facts.last_rx = 2498;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 1);
	facts.now = 2499;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_FAIL);
}

/* One connection's short interval does not fail a link that others use */
TEST(smcr_link_test_step__not_before_t_llc)
{
	struct smcr_link_test_facts facts = facts_at(1000);
	struct smcr_link_test t = { 0 };
	long next;

	facts.keep_in = 0;
	facts.keep_intvl = 100;
	facts.keep_cnt = 1;
	smcr_link_test_step(&t, &facts, &next);
	facts.now = 1100;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_WAIT);
	EXPECT_EQ(next, 300);
	facts.now = 1400;
	EXPECT_EQ(smcr_link_test_step(&t, &facts, &next), SMCR_LINK_TEST_FAIL);
}
