// SPDX-License-Identifier: GPL-2.0-only
/* Symmetric and asymmetric links, RFC 7609 2.2.1, 3.5.1.6.1, 3.5.5.1.1. */
#include "ktap.h"

#include "lgr_roles.h"

static struct smcr_pairs pairs(u32 n, ...)
{
	struct smcr_pairs p = { .n = (u8)n };
	__builtin_va_list ap;
	u32 i;

	__builtin_va_start(ap, n);
	for (i = 0; i < n; i++) {
		int v = __builtin_va_arg(ap, int);

		p.pair[i] = (struct smcr_nic_pair){ (u8)(v / 10), (u8)(v % 10) };
	}
	__builtin_va_end(ap);
	return p;
}

/* A pair is written as 10 * own + peer */
static struct smcr_nic_pair pair(int v)
{
	return (struct smcr_nic_pair){ (u8)(v / 10), (u8)(v % 10) };
}

static const u8 nics[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

TEST(smcr_roles__tables)
{
	u8 role[SMCR_SLOTS];
	struct smcr_pairs p;

	covers("LG-53");
	p = pairs(1, 11);
	smcr_roles(&p, role);
	EXPECT_EQ(role[0], SMCR_ROLE_SINGLE);
	EXPECT_FALSE(smcr_roles_redundant(&p));
	p = pairs(2, 11, 22);
	smcr_roles(&p, role);
	EXPECT_EQ(role[0], SMCR_ROLE_SYM);
	EXPECT_EQ(role[1], SMCR_ROLE_SYM);
	EXPECT_TRUE(smcr_roles_redundant(&p));
	p = pairs(2, 11, 12);
	smcr_roles(&p, role);
	EXPECT_EQ(role[1], SMCR_ROLE_ASYM);
	EXPECT_FALSE(smcr_roles_redundant(&p));
	p = pairs(2, 11, 11);
	smcr_roles(&p, role);
	EXPECT_EQ(role[1], SMCR_ROLE_PARALLEL);
	/* beside the asymmetric link there is a symmetric one that shares with it */
	p = pairs(3, 11, 12, 22);
	smcr_roles(&p, role);
	EXPECT_EQ(role[1], SMCR_ROLE_ASYM);
	EXPECT_EQ(role[2], SMCR_ROLE_SYM);
	EXPECT_EQ(smcr_roles_replaced(&p), 1);
	p = pairs(2, 11, 12);
	EXPECT_EQ(smcr_roles_replaced(&p), SMCR_NO_SLOT);
}

TEST(smcr_role_allowed__limits)
{
	struct smcr_pairs p;

	covers("LG-08 LG-11 LG-12");
	p = pairs(1, 11);
	EXPECT_TRUE(smcr_role_allowed(&p, 2, pair(22)));
	EXPECT_TRUE(smcr_role_allowed(&p, 2, pair(12)));
	EXPECT_TRUE(smcr_role_allowed(&p, 2, pair(21)));
	EXPECT_FALSE(smcr_role_allowed(&p, 2, pair(11)));
	p = pairs(2, 11, 12);
	EXPECT_FALSE(smcr_role_allowed(&p, 8, pair(13)));	/* a second one */
	EXPECT_FALSE(smcr_role_allowed(&p, 8, pair(31)));
	EXPECT_TRUE(smcr_role_allowed(&p, 2, pair(22)));
	p = pairs(2, 11, 22);
	EXPECT_FALSE(smcr_role_allowed(&p, 2, pair(33)));
	EXPECT_TRUE(smcr_role_allowed(&p, 3, pair(33)));
	EXPECT_FALSE(smcr_role_allowed(&p, 3, pair(12)));
}

TEST(smcr_roles_offer__server)
{
	struct smcr_pairs p = pairs(1, 00);

	covers("LG-18");
	EXPECT_EQ(smcr_roles_offer(&p, 2, nics, 1, 0, false), 0);
	EXPECT_EQ(smcr_roles_offer(&p, 2, nics, 2, 0, false), 1);
	EXPECT_EQ(smcr_roles_offer(&p, 1, nics, 2, 0, false), SMCR_NO_NIC);
	p = pairs(2, 00, 11);
	EXPECT_EQ(smcr_roles_offer(&p, 2, nics, 3, 0, false), SMCR_NO_NIC);
	EXPECT_EQ(smcr_roles_offer(&p, 3, nics, 3, 0, false), 2);
	EXPECT_EQ(smcr_roles_offer(&p, 3, nics, 2, 0, false), SMCR_NO_NIC);
	/* an RNIC that only the asymmetric link uses is as good as a new one */
	p = pairs(2, 00, 10);
	EXPECT_EQ(smcr_roles_offer(&p, 2, nics, 2, 0, false), 1);
	EXPECT_EQ(smcr_roles_offer(&p, 2, nics, 1, 0, false), SMCR_NO_NIC);
}

/* A retry: another RNIC each time, and none that has an asymmetric link */
TEST(smcr_roles_offer__retry)
{
	struct smcr_pairs p = pairs(1, 00);
	u8 i;

	covers("LG-27");
	for (i = 0; i < 9; i++) {
		EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 4, i, true), 1 + i % 3);
		EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 2, i, true), 1);
		EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 1, i, true), 0);
	}
	p = pairs(2, 00, 10);
	EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 2, 0, true), SMCR_NO_NIC);
	EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 2, 3, true), SMCR_NO_NIC);
	/* the client has a new RNIC */
	EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 2, 3, false), 1);
	/* another RNIC of the server may succeed */
	for (i = 0; i < 9; i++)
		EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 3, i, true), 2);
	EXPECT_EQ(smcr_roles_offer(&p, 8, nics, 3, 1, false), 2);
}

TEST(smcr_roles_answer__client)
{
	struct smcr_pairs p = pairs(1, 00);

	covers("LG-20 LG-21");
	/* the same RNIC of the server: only a second one of the client will do */
	EXPECT_EQ(smcr_roles_answer(&p, 2, 0, nics, 1), SMCR_NO_NIC);
	EXPECT_EQ(smcr_roles_answer(&p, 2, 0, nics, 2), 1);
	/* another one: always */
	EXPECT_EQ(smcr_roles_answer(&p, 2, 1, nics, 1), 0);
	EXPECT_EQ(smcr_roles_answer(&p, 2, 1, nics, 2), 1);
	/* with two symmetric links an asymmetric one is of no use */
	p = pairs(2, 00, 11);
	EXPECT_EQ(smcr_roles_answer(&p, 8, 2, nics, 2), SMCR_NO_NIC);
	EXPECT_EQ(smcr_roles_answer(&p, 8, 2, nics, 3), 2);
	EXPECT_EQ(smcr_roles_answer(&p, 2, 2, nics, 3), SMCR_NO_NIC);
	/* the asymmetric link is replaced: own 0 has both RNICs of the server */
	p = pairs(2, 00, 01);
	EXPECT_EQ(smcr_roles_answer(&p, 2, 1, nics, 2), 1);
	EXPECT_EQ(smcr_roles_answer(&p, 2, 1, nics, 1), SMCR_NO_NIC);
}
