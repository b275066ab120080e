// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/cdc.c: the CDC codec, RFC 7609 A.4. */
#include "msgs.h"

enum { ROUNDS = 20000 };

static enum smcr_reason decode(const u8 *buf, size_t len, struct smcr_cdc *out)
{
	enum smcr_reason why = SMCR_R_NONE;
	u8 *copy = exact(buf, len);
	int rc;

	rc = smcr_cdc_decode(copy, len, out, &why);
	exact_free(copy, len);
	EXPECT_EQ(rc, why == SMCR_R_NONE ? 0 : -EPROTO);
	return why;
}

TEST(smcr_cdc_decode__vectors)
{
	static const struct {
		const char *name;
		struct smcr_cdc cdc;
	} want[] = {
		{ "CDC: 1000 bytes",
		  { 1, 0xcafe0001, { 0, 1004 }, { 0, 4 }, 0, 0 } },
		{ "CDC: full-window",
		  { 7, 0xcafe0001, { 2, 1004 }, { 0, 4 }, SMCR_CDC_B, 0 } },
		{ "CDC: urgent",
		  { 8, 0xcafe0001, { 1, 1500 }, { 0, 4 },
		    SMCR_CDC_P | SMCR_CDC_U, 0 } },
		{ "CDC: cursor update",
		  { 9, 0xcafe0001, { 1, 1500 }, { 0, 4 }, SMCR_CDC_R, 0 } },
		{ "CDC: failover",
		  { 9, 0xcafe0001, { 0, 0 }, { 0, 0 }, SMCR_CDC_F, 0 } },
		{ "CDC: sending done",
		  { 10, 0xcafe0001, { 1, 1500 }, { 0, 4 }, 0, SMCR_CDC_D } },
		{ "CDC: connection closed",
		  { 11, 0xcafe0001, { 1, 1500 }, { 0, 4 }, 0, SMCR_CDC_C } },
		{ "CDC: abnormal",
		  { 12, 0xcafe0001, { 1, 1500 }, { 0, 4 }, 0, SMCR_CDC_A } },
	};
	struct smcr_cdc out;
	u8 buf[44];
	size_t i;

	covers("CDC-01");
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct vector *v = vector(want[i].name);

		ASSERT_EQ(v->len, 44);
		ASSERT_EQ(decode(v->bytes, 44, &out), SMCR_R_NONE);
		EXPECT_EQ(out.seq, want[i].cdc.seq);
		EXPECT_EQ(out.token, want[i].cdc.token);
		EXPECT_EQ(out.prod.wrap, want[i].cdc.prod.wrap);
		EXPECT_EQ(out.prod.count, want[i].cdc.prod.count);
		EXPECT_EQ(out.cons.wrap, want[i].cdc.cons.wrap);
		EXPECT_EQ(out.cons.count, want[i].cdc.cons.count);
		EXPECT_EQ(out.pflags, want[i].cdc.pflags);
		EXPECT_EQ(out.cflags, want[i].cdc.cflags);
		memset(buf, 0xee, 44);
		smcr_cdc_encode(&out, buf);
		EXPECT_MEM(buf, v->bytes, 44);
	}
}

TEST(smcr_cdc_decode__length_and_type)
{
	struct smcr_cdc c;
	u8 buf[100] = { 0 };
	size_t i;

	covers("CDC-01");
	rnd_cdc(&c);
	smcr_cdc_encode(&c, buf);
	for (i = 0; i < sizeof(buf); i++)
		EXPECT_EQ(decode(buf, i, &c), i == 44 ? SMCR_R_NONE :
							SMCR_R_LLC_LENGTH);
	for (i = 0; i < 256; i++) {
		buf[1] = (u8)i;
		EXPECT_EQ(decode(buf, 44, &c), i == 44 ? SMCR_R_NONE :
							 SMCR_R_LLC_LENGTH);
	}
	buf[1] = 44;
	for (i = 0; i < 256; i++) {
		buf[0] = (u8)i;
		EXPECT_EQ(decode(buf, 44, &c), i == 0xfe ? SMCR_R_NONE :
							   SMCR_R_LLC_OPCODE);
	}
}

TEST(smcr_cdc_decode__reserved_bits)
{
	struct smcr_cdc in, out;
	u8 buf[44];
	u32 i;

	covers("CDC-01");
	for (i = 0; i < 1000; i++) {
		rnd_cdc(&in);
		smcr_cdc_encode(&in, buf);
		EXPECT_EQ(buf[8] | buf[9] | buf[16] | buf[17], 0);
		EXPECT_EQ(buf[24] & 0x07, 0);
		EXPECT_EQ(buf[25] & 0x1f, 0);
		buf[8] = 0xff;
		buf[9] = 0xff;
		buf[16] = 0xff;
		buf[17] = 0xff;
		buf[24] |= 0x07;
		buf[25] |= 0x1f;
		memset(buf + 26, 0xff, 18);
		ASSERT_EQ(decode(buf, 44, &out), SMCR_R_NONE);
		EXPECT_MEM(&in, &out, sizeof(in));
	}
}

TEST(smcr_cdc_decode__validation_is_nothing_else)
{
	struct smcr_cdc out;
	u8 buf[44];
	u32 i;

	covers("CDC-47");
	for (i = 0; i < 1000; i++) {
		rnd_bytes(buf, 44);
		buf[0] = 0xfe;
		buf[1] = 44;
		buf[24] |= SMCR_CDC_F;
		ASSERT_EQ(decode(buf, 44, &out), SMCR_R_NONE);
		EXPECT_EQ(out.seq, buf[2] << 8 | buf[3]);
		EXPECT_EQ(out.token, (u32)buf[4] << 24 | buf[5] << 16 |
				     buf[6] << 8 | buf[7]);
		EXPECT_EQ(out.pflags, SMCR_CDC_F);
		EXPECT_EQ(out.cflags, 0);
		EXPECT_EQ(out.prod.wrap | out.prod.count, 0);
		EXPECT_EQ(out.cons.wrap | out.cons.count, 0);
	}

	/* and nothing else is sent with it */
	rnd_cdc(&out);
	out.pflags = 0xff;
	out.cflags = 0xff;
	out.prod.count = 5;
	smcr_cdc_encode(&out, buf);
	EXPECT_EQ(buf[24], SMCR_CDC_F);
	for (i = 8; i < 44; i++)
		EXPECT_EQ(buf[i], i == 24 ? SMCR_CDC_F : 0);
}

TEST(smcr_cdc_decode__bit_flips)
{
	struct smcr_cdc c, again;
	u8 buf[44], enc[44];
	size_t bit;

	rnd_cdc(&c);
	smcr_cdc_encode(&c, buf);
	for (bit = 0; bit < 44 * 8; bit++) {
		flip(buf, bit);
		if (decode(buf, 44, &c) == SMCR_R_NONE) {
			EXPECT_TRUE(bit >= 16);
			smcr_cdc_encode(&c, enc);
			EXPECT_EQ(decode(enc, 44, &again), SMCR_R_NONE);
			EXPECT_MEM(&c, &again, sizeof(c));
		}
		flip(buf, bit);
	}
}

TEST(smcr_cdc_encode__round_trip)
{
	struct smcr_cdc in, out;
	u8 buf[48];
	u32 i;

	covers("CDC-01");
	for (i = 0; i < ROUNDS; i++) {
		rnd_cdc(&in);
		memset(buf, 0xee, sizeof(buf));
		smcr_cdc_encode(&in, buf);
		EXPECT_EQ(buf[44], 0xee);
		ASSERT_EQ(decode(buf, 44, &out), SMCR_R_NONE);
		EXPECT_MEM(&in, &out, sizeof(in));
	}
}

TEST(smcr_cdc_encode__drops_reserved_flags)
{
	struct smcr_cdc c;
	u8 buf[44];

	covers("CDC-01");
	memset(&c, 0, sizeof(c));
	c.pflags = 0xff & ~SMCR_CDC_F;
	c.cflags = 0xff;
	smcr_cdc_encode(&c, buf);
	EXPECT_EQ(buf[24], 0xf0);
	EXPECT_EQ(buf[25], 0xe0);
}
