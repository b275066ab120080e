// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/reason.c: codes, names and texts. */
#include "ktap.h"

#include "reason.h"

TEST(smcr_reason_wire__only_declines)
{
	int i, j;

	EXPECT_EQ(smcr_reason_wire(SMCR_R_NONE), 0);
	EXPECT_EQ(smcr_reason_wire(SMCR_R_NO_DEVICE), 0x03030002);
	EXPECT_EQ(smcr_reason_wire(SMCR_R_CLC_EYE_CATCHER), 0);
	EXPECT_EQ(smcr_reason_wire((enum smcr_reason)-1), 0);
	EXPECT_EQ(smcr_reason_wire(NR_SMCR_REASON), 0);

	/* a code names one reason */
	for (i = 0; i < NR_SMCR_REASON; i++)
		for (j = 0; j < i; j++)
			EXPECT_TRUE(!smcr_reason_wire(i) ||
				    smcr_reason_wire(i) != smcr_reason_wire(j));
}

TEST(smcr_reason_name__stable_form)
{
	const char *name, *p;
	int i, j;

	for (i = 0; i < NR_SMCR_REASON; i++) {
		name = smcr_reason_name(i);
		EXPECT_TRUE(*name);
		for (p = name; *p; p++)
			EXPECT_TRUE((*p >= 'a' && *p <= 'z') || *p == '-');
		for (j = 0; j < i; j++)
			EXPECT_NE(strcmp(name, smcr_reason_name(j)), 0);
	}
	EXPECT_STR(smcr_reason_name(SMCR_R_NONE), "none");
	EXPECT_STR(smcr_reason_name(NR_SMCR_REASON), "unknown");
	EXPECT_STR(smcr_reason_name((enum smcr_reason)-1), "unknown");
}

TEST(smcr_reason_text__distinct)
{
	int i, j;

	for (i = 0; i < NR_SMCR_REASON; i++) {
		EXPECT_TRUE(*smcr_reason_text(i));
		for (j = 0; j < i; j++)
			EXPECT_NE(strcmp(smcr_reason_text(i),
					 smcr_reason_text(j)), 0);
	}
	EXPECT_STR(smcr_reason_text(NR_SMCR_REASON), "unknown reason");
}
