// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/tcpopt_parse.c: the option among other TCP options. */
#include "ktap.h"

#include "tcpopt_parse.h"

#define OPT	0xfe, 0x06, 0xe2, 0xd4, 0xc3, 0xd9

/* What Linux puts on a SYN: MSS, SACK permitted, timestamps, NOP, wscale */
#define LINUX_SYN \
	2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 1, 2, 3, 0, 0, 0, 0, 1, 3, 3, 7

static bool find(const u8 *opt, size_t len)
{
	u8 *copy = exact(opt, len);
	bool yes = smcr_tcpopt_find(copy, len);

	exact_free(copy, len);
	return yes;
}

static bool fits(const u8 *opt, size_t len)
{
	u8 *copy = exact(opt, len);
	bool yes = smcr_tcpopt_fits(copy, len);

	exact_free(copy, len);
	return yes;
}

#define FIND(...) find((const u8[]){ __VA_ARGS__ }, \
		       sizeof((const u8[]){ __VA_ARGS__ }))
#define FITS(...) fits((const u8[]){ __VA_ARGS__ }, \
		       sizeof((const u8[]){ __VA_ARGS__ }))

TEST(smcr_tcpopt_find__wherever_it_stands)
{
	EXPECT_TRUE(FIND(OPT));
	EXPECT_TRUE(FIND(1, 1, OPT));
	EXPECT_TRUE(FIND(LINUX_SYN, 1, 1, OPT));
	EXPECT_TRUE(FIND(OPT, LINUX_SYN));
	EXPECT_TRUE(FIND(OPT, 0, 0));
	EXPECT_FALSE(FIND(LINUX_SYN));
	EXPECT_FALSE(find((const u8 *)"", 0));
}

TEST(smcr_tcpopt_find__other_experiments)
{
	covers("T-09");
	/* another identifier, of four and of two bytes; kind 253 */
	EXPECT_FALSE(FIND(0xfe, 6, 0xe2, 0xd4, 0xc3, 0xc4));
	EXPECT_FALSE(FIND(0xfe, 4, 0xeb, 0x9f));
	EXPECT_FALSE(FIND(0xfd, 6, 0xe2, 0xd4, 0xc3, 0xd9));
	/* beside ours they do not matter */
	EXPECT_TRUE(FIND(0xfe, 4, 0xeb, 0x9f, OPT));
	EXPECT_TRUE(FIND(OPT, 0xfe, 4, 0xeb, 0x9f));
	EXPECT_TRUE(FIND(0xfe, 6, 0xe2, 0xd4, 0xc3, 0xc4, OPT));
}

TEST(smcr_tcpopt_find__wrong_length)
{
	u8 opt[40];
	u32 n;

	covers("T-01 T-10");
	for (n = 0; n <= 255; n++) {
		memset(opt, 1, sizeof(opt));
		memcpy(opt, (const u8[]){ OPT }, 6);
		opt[1] = (u8)n;
		EXPECT_EQ(find(opt, sizeof(opt)), n == 6);
		/* at the end of the header */
		EXPECT_EQ(find(opt, 6), n == 6);
	}
}

TEST(smcr_tcpopt_find__truncated)
{
	static const u8 opt[] = { LINUX_SYN, 1, 1, OPT };
	size_t len;

	covers("T-10");
	for (len = 0; len < sizeof(opt); len++)
		EXPECT_FALSE(find(opt, len));
	EXPECT_TRUE(find(opt, len));
	/* the last byte of the header is a kind without its length */
	EXPECT_FALSE(FIND(1, 0xfe));
	EXPECT_FALSE(FIND(1, 1, 1, 2));
}

TEST(smcr_tcpopt_find__end_of_list)
{
	/* behind an EOL and behind a broken option is no option */
	EXPECT_FALSE(FIND(0, OPT));
	EXPECT_FALSE(FIND(8, 0, OPT));
	EXPECT_FALSE(FIND(8, 1, OPT));
	EXPECT_FALSE(FIND(8, 60, OPT));
	/* the bytes inside of another option are not one either */
	EXPECT_FALSE(FIND(30, 8, OPT));
	EXPECT_FALSE(FIND(30, 10, 1, 1, OPT));
}

TEST(smcr_tcpopt_find__random_bytes)
{
	u8 opt[40];
	u32 i;

	for (i = 0; i < 20000; i++) {
		size_t len = rnd(sizeof(opt) + 1);

		rnd_bytes(opt, len);
		/* one in three bytes is a small number: likely a length */
		if (len)
			opt[rnd((u32)len)] = (u8)rnd(12);
		if (find(opt, len))
			EXPECT_FALSE(fits(opt, len));
		fits(opt, len);
	}
}

TEST(smcr_tcpopt_fits__room)
{
	u8 opt[40];
	size_t len;

	covers("T-13");
	memset(opt, 1, sizeof(opt));
	for (len = 0; len <= sizeof(opt); len++)
		EXPECT_EQ(fits(opt, len), len <= 32);
	EXPECT_TRUE(FITS(LINUX_SYN));
}

TEST(smcr_tcpopt_fits__signed)
{
	/* a changed header would not verify */
	EXPECT_FALSE(FITS(19, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
			  14, 15));
	EXPECT_FALSE(FITS(2, 4, 0x05, 0xb4, 29, 8, 1, 1, 0, 0, 0, 0));
}

TEST(smcr_tcpopt_fits__not_read)
{
	EXPECT_FALSE(FITS(2, 4, 0x05, 0xb4, 0));
	EXPECT_FALSE(FITS(2, 4, 0x05, 0xb4, 0, 0, 0, 0));
	EXPECT_FALSE(FITS(2, 8, 0x05, 0xb4));
	EXPECT_FALSE(FITS(2, 4, 0x05, 0xb4, 2));
	/* no second one */
	EXPECT_FALSE(FITS(1, 1, OPT));
}

TEST(smcr_tcpopt_put__bytes)
{
	static const u8 want[] = { 0x01, 0x01, OPT };
	u8 opt[SMCR_TCPOPT_PADDED];

	covers("T-01");
	smcr_tcpopt_put(opt);
	EXPECT_EQ(sizeof(opt), sizeof(want));
	EXPECT_MEM(opt, want, sizeof(want));
	EXPECT_TRUE(find(opt, sizeof(opt)));
}

/* scripts/static checks that no other file has the number */
TEST(smcr_tcpopt_put__one_constant)
{
	u8 opt[SMCR_TCPOPT_PADDED];
	u32 kind;

	covers("MISC-12");
	smcr_tcpopt_put(opt);
	EXPECT_EQ(opt[2], SMCR_TCPOPT_KIND);
	EXPECT_FALSE(fits(opt, sizeof(opt)));	/* no second one */
	for (kind = 0; kind < 256; kind++) {
		opt[2] = (u8)kind;
		EXPECT_EQ(find(opt, sizeof(opt)), kind == SMCR_TCPOPT_KIND);
	}
}

TEST(smcr_tcpopt_put__behind_others)
{
	u8 opt[40];
	u32 i;

	/* wherever it fits, it is found */
	for (i = 0; i < 20000; i++) {
		size_t len = rnd(33);

		rnd_bytes(opt, len);
		if (rnd_bool())
			memset(opt, 1, len);
		if (!fits(opt, len))
			continue;
		smcr_tcpopt_put(opt + len);
		EXPECT_TRUE(find(opt, len + SMCR_TCPOPT_PADDED));
	}
}
