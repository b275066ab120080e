// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/dialect.c: what depends on the protocol's version. */
#include "msgs.h"

#include "dialect.h"

static const struct smcr_dialect *const v1 = &smcr_dialect_v1;

TEST(smcr_dialect_v1__figures)
{
	EXPECT_EQ(v1->version, 1);
	EXPECT_EQ(v1->msg_len, 44);
	EXPECT_EQ(v1->eye_len, 4);
	EXPECT_EQ(v1->eye, 0xd9d4c2c5);
}

TEST(smcr_dialect_base__truth_table)
{
	struct smcr_dialect none = *v1;

	none.eye_len = 0;
	EXPECT_EQ(smcr_dialect_base(v1, false, false), 0);
	EXPECT_EQ(smcr_dialect_base(v1, false, true), 4);
	EXPECT_EQ(smcr_dialect_base(v1, true, false), 4);
	EXPECT_EQ(smcr_dialect_base(v1, true, true), 4);
	EXPECT_EQ(smcr_dialect_base(&none, true, true), 0);
}

TEST(smcr_dialect_v1__form_of_llc)
{
	EXPECT_EQ(v1->llc_form(0), SMCR_LLC_PADDED);
	EXPECT_EQ(v1->llc_form(4), SMCR_LLC_RFC);
}

TEST(smcr_dialect_v1__every_bit_of_a_mac)
{
	u8 a[6], b[6];
	u32 bit;

	rnd_bytes(a, sizeof(a));
	memcpy(b, a, sizeof(a));
	EXPECT_TRUE(v1->same_rnic(a, b));
	for (bit = 0; bit < 48; bit++) {
		flip(b, bit);
		EXPECT_FALSE(v1->same_rnic(a, b));
		flip(b, bit);
	}
}

TEST(smcr_dialect_v1__every_bit_of_an_end)
{
	u8 mac[6], gid[16], mac2[6], gid2[16];
	struct smcr_end a = { mac, gid, rnd_u24() };
	struct smcr_end b = { mac2, gid2, a.qpn };
	u32 bit;

	covers("LG-02");
	rnd_bytes(mac, sizeof(mac));
	rnd_gid(gid);
	memcpy(mac2, mac, sizeof(mac));
	memcpy(gid2, gid, sizeof(gid));
	EXPECT_TRUE(v1->same_end(&a, &b));
	for (bit = 0; bit < 48 + 128 + 24; bit++) {
		if (bit < 48)
			flip(mac2, bit);
		else if (bit < 48 + 128)
			flip(gid2, bit - 48);
		else
			b.qpn ^= 1U << (bit - 48 - 128);
		EXPECT_FALSE(v1->same_end(&a, &b));
		memcpy(mac2, mac, sizeof(mac));
		memcpy(gid2, gid, sizeof(gid));
		b.qpn = a.qpn;
	}
}

TEST(smcr_dialect_v1__messages_come_back)
{
	static const u8 types[] = {
		SMCR_LLC_CONFIRM_LINK, SMCR_LLC_ADD_LINK, SMCR_LLC_TEST_LINK,
	};
	static const u32 bases[] = { 0, 4 };
	enum smcr_reason why;
	struct smcr_llc in, out;
	enum smcr_llc_form form;
	u8 buf[SMCR_MSG_MAX];
	u32 i, j;

	for (i = 0; i < 3 * 2 * 20; i++) {
		form = v1->llc_form(bases[i & 1]);
		memset(&in, 0, sizeof(in));
		rnd_llc(&in, types[i % 3]);
		memset(buf, 0xa5, sizeof(buf));
		v1->encode(&in, form, buf);
		/* encodes .msg_len bytes, and decodes no other length */
		for (j = v1->msg_len; j < sizeof(buf); j++)
			EXPECT_EQ(buf[j], 0xa5);
		EXPECT_EQ(buf[1], v1->msg_len);
		why = SMCR_R_NONE;
		EXPECT_EQ(v1->decode(buf, v1->msg_len, form, &out, &why), 0);
		EXPECT_EQ(out.type, in.type);
		EXPECT_TRUE(v1->decode(buf, v1->msg_len - 1, form, &out, &why));
		EXPECT_TRUE(v1->decode(buf, v1->msg_len + 1, form, &out, &why));
	}
}
