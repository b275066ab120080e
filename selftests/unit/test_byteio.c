// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/byteio.h: big-endian integers at any address. */
#include "ktap.h"

#include "byteio.h"

TEST(smcr_get_be__known)
{
	static const u8 b[] = { 0xff, 0x12, 0x34, 0x56, 0x78,
				0x9a, 0xbc, 0xde, 0xf0 };

	EXPECT_EQ(smcr_get_be16(b + 1), 0x1234);
	EXPECT_EQ(smcr_get_be24(b + 1), 0x123456);
	EXPECT_EQ(smcr_get_be32(b + 1), 0x12345678);
	EXPECT_EQ(smcr_get_be64(b + 1), 0x123456789abcdef0);
	/* the top bit is no sign */
	EXPECT_EQ(smcr_get_be16(b), 0xff12);
	EXPECT_EQ(smcr_get_be24(b), 0xff1234);
	EXPECT_EQ(smcr_get_be32(b), 0xff123456U);
	EXPECT_TRUE(smcr_get_be64(b) == 0xff123456789abcdeULL);
}

TEST(smcr_put_be__round_trip)
{
	u8 b[16];
	u32 i, off;

	for (i = 0; i < 1000; i++) {
		u64 v = rnd64();

		for (off = 1; off < 8; off++) {
			memset(b, 0xee, sizeof(b));
			smcr_put_be16(b + off, (u16)v);
			EXPECT_EQ(smcr_get_be16(b + off), v & 0xffff);
			EXPECT_EQ(b[off - 1] + b[off + 2], 0xee + 0xee);
			smcr_put_be24(b + off, (u32)v);
			EXPECT_EQ(smcr_get_be24(b + off), v & 0xffffff);
			EXPECT_EQ(b[off - 1] + b[off + 3], 0xee + 0xee);
			smcr_put_be32(b + off, (u32)v);
			EXPECT_EQ(smcr_get_be32(b + off), v & 0xffffffff);
			EXPECT_EQ(b[off - 1] + b[off + 4], 0xee + 0xee);
			smcr_put_be64(b + off, v);
			EXPECT_TRUE(smcr_get_be64(b + off) == v);
			EXPECT_EQ(b[off - 1] + b[off + 8], 0xee + 0xee);
		}
	}
}

TEST(smcr_bytes_zero__each_byte)
{
	u8 b[20] = { 0 };
	size_t len, i;

	for (len = 0; len <= sizeof(b); len++) {
		EXPECT_TRUE(smcr_bytes_zero(b, len));
		for (i = 0; i < sizeof(b); i++) {
			b[i] = 1;
			EXPECT_EQ(smcr_bytes_zero(b, len), i >= len);
			b[i] = 0;
		}
	}
}
