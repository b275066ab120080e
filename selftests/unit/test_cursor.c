// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/cursor.c: ring positions and wire cursors. */
#include "ktap.h"

#include "cursor.h"

/* Geometries: RFC elements and Linux ones, smallest and odd ones */
static const struct smcr_ring rings[] = {
	{ 0, 1 }, { 4, 5 }, { 0, 2 }, { 4, 7 }, { 0, 13 }, { 4, 100 },
	{ 4, 10000 }, { 0, 16384 }, { 4, 16384 }, { 0, 65536 }, { 4, 524288 },
	{ 0, 524288 },
};

/* The position, computed from scratch */
static struct smcr_pos pos_at(const struct smcr_ring *ring, u64 abs)
{
	u32 cap = ring->size - ring->base;
	struct smcr_pos pos = {
		.abs = abs,
		.off = (u32)(abs % cap),
		.wrap = (u16)(abs / cap),
	};

	return pos;
}

static void expect_pos(const struct smcr_pos *a, const struct smcr_pos *b)
{
	EXPECT_EQ(a->abs, b->abs);
	EXPECT_EQ(a->off, b->off);
	EXPECT_EQ(a->wrap, b->wrap);
}

TEST(smcr_ring_cap__rfc)
{
	/* CDC-15: capacity is E-4 */
	EXPECT_EQ(smcr_ring_cap(&(struct smcr_ring){ 4, 16384 }), 16380);
	EXPECT_EQ(smcr_ring_cap(&(struct smcr_ring){ 4, 10000 }), 9996);
	EXPECT_EQ(smcr_ring_cap(&(struct smcr_ring){ 0, 65536 }), 65536);
}

TEST(smcr_pos_add__from_scratch)
{
	u32 r, i;

	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		const struct smcr_ring *ring = &rings[r];
		u32 cap = smcr_ring_cap(ring);
		struct smcr_pos pos = { 0 };

		for (i = 0; i < 5000; i++) {
			u32 n = rnd(4) ? rnd(cap + 1) : rnd_bool() ? cap : 0;
			struct smcr_pos want = pos_at(ring, pos.abs + n);

			smcr_pos_add(ring, &pos, n);
			expect_pos(&pos, &want);
		}
	}
}

TEST(smcr_pos_add__steps)
{
	static const u32 steps[] = { 1, 7, 16384 - 5, 16384 - 4 };
	const struct smcr_ring ring = { 4, 16384 };
	struct smcr_cursor cur;
	u32 i, s;

	covers("CDC-12");
	for (s = 0; s < ARRAY_SIZE(steps); s++) {
		struct smcr_pos pos = { 0 };

		cur = smcr_pos_cursor(&ring, &pos);
		EXPECT_EQ(cur.count, 4);
		EXPECT_EQ(cur.wrap, 0);
		for (i = 1; i < 40000; i++) {
			smcr_pos_add(&ring, &pos, steps[s]);
			cur = smcr_pos_cursor(&ring, &pos);
			/* never 0..3, never E */
			EXPECT_TRUE(cur.count >= 4 && cur.count < 16384);
			EXPECT_EQ(cur.count,
				  4 + (u64)i * steps[s] % (16384 - 4));
			EXPECT_EQ(cur.wrap, (u16)((u64)i * steps[s] / 16380));
		}
	}
	/* the last byte, and the one after it */
	cur = smcr_pos_cursor(&ring, &(struct smcr_pos){ 16379, 16379, 0 });
	EXPECT_EQ(cur.count, 16383);
}

TEST(smcr_pos_add__wrap_number_wraps)
{
	u32 b, i;

	covers("CDC-13");
	for (b = 0; b <= 4; b += 4) {
		const struct smcr_ring ring = { b, 16384 };
		u32 cap = smcr_ring_cap(&ring);
		struct smcr_pos pos = { 0 };
		struct smcr_pos peer = { 0 };

		for (i = 1; i <= 140000; i++) {
			u32 n = cap - (i & 1);
			int rc;

			smcr_pos_add(&ring, &pos, n);
			rc = smcr_pos_apply(&ring, &peer,
					    smcr_pos_cursor(&ring, &pos),
					    pos.abs);
			ASSERT_EQ(rc, n);
			ASSERT_EQ(pos.wrap, (u16)(pos.abs / cap));
		}
		expect_pos(&pos, &peer);
		EXPECT_TRUE(pos.abs > 65536ULL * 2 * cap);
	}
}

TEST(smcr_pos_cursor__base)
{
	struct smcr_pos pos = { .abs = 1000, .off = 1000, .wrap = 0 };
	const struct smcr_ring rfc = { 4, 10000 }, lnx = { 0, 16384 };

	EXPECT_EQ(smcr_pos_cursor(&rfc, &pos).count, 1004);
	EXPECT_EQ(smcr_pos_cursor(&lnx, &pos).count, 1000);
}

TEST(smcr_pos_apply__difference_of_sum)
{
	u32 r, i;

	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		const struct smcr_ring *ring = &rings[r];
		u32 cap = smcr_ring_cap(ring);

		for (i = 0; i < 3000; i++) {
			u64 abs = rnd64() >> (1 + rnd(40));
			struct smcr_pos from = pos_at(ring, abs);
			struct smcr_pos to = from;
			u32 n = rnd(cap + 1);

			smcr_pos_add(ring, &to, n);
			EXPECT_EQ(smcr_pos_apply(ring, &from,
						 smcr_pos_cursor(ring, &to),
						 abs + cap), n);
			expect_pos(&from, &to);
		}
	}
}

/* How many of all cursors are accepted at @abs, up to a ring ahead */
static u32 accepted(const struct smcr_ring *ring, u64 abs)
{
	u32 cap = smcr_ring_cap(ring);
	u32 wrap, count, n_ok = 0;

	for (wrap = 0; wrap < 65536; wrap++) {
		for (count = 0; count < ring->size + 3; count++) {
			struct smcr_cursor cur = { (u16)wrap, count };
			struct smcr_pos pos = pos_at(ring, abs);
			struct smcr_pos want = pos;
			int n;

			n = smcr_pos_apply(ring, &pos, cur, abs + cap);
			if (n >= 0) {
				n_ok++;
				ASSERT_LE(n, cap);
				want = pos_at(ring, abs + n);
				EXPECT_EQ(pos.wrap, wrap);
				EXPECT_EQ(pos.off + ring->base, count);
			}
			expect_pos(&pos, &want);
		}
	}
	return n_ok;
}

TEST(smcr_pos_apply__nothing_else)
{
	/* all cursors, against all positions that may follow */
	static const struct smcr_ring small[] = { { 0, 5 }, { 4, 9 } };
	static const u16 wraps[] = { 0, 1, 7, 32767, 65534, 65535 };
	u32 r, w, off;

	covers("CDC-19");
	for (r = 0; r < ARRAY_SIZE(small); r++)
		for (w = 0; w < ARRAY_SIZE(wraps); w++)
			for (off = 0; off < 5; off++)
				/* 0 to 5 bytes further, one cursor each */
				EXPECT_EQ(accepted(&small[r],
						   5ULL * 65536 * 3 +
						   5ULL * wraps[w] + off), 6);
}

TEST(smcr_pos_apply__outside)
{
	const struct smcr_ring ring = { 4, 16384 };
	static const u32 bad[] = { 0, 3, 16384, 16385, 0x80000000, 0xffffffff };
	struct smcr_pos pos = { 0 };
	u32 i, wrap;

	covers("CDC-19");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		for (wrap = 0; wrap < 4; wrap++) {
			struct smcr_cursor cur = { (u16)wrap, bad[i] };

			EXPECT_EQ(smcr_pos_apply(&ring, &pos, cur, ~0ULL >> 1),
				  -ERANGE);
		}
	}
	EXPECT_EQ(pos.abs, 0);
	EXPECT_EQ(pos.off, 0);
}

TEST(smcr_pos_apply__limit)
{
	u32 r, i;

	covers("CDC-19");
	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		const struct smcr_ring *ring = &rings[r];
		u32 cap = smcr_ring_cap(ring);

		for (i = 0; i < 1000; i++) {
			u64 abs = rnd64() >> 20;
			struct smcr_pos pos = pos_at(ring, abs);
			u32 n = rnd(cap + 1);
			u64 limit = abs + rnd(cap + 1);
			struct smcr_pos to = pos_at(ring, abs + n);
			int rc;

			rc = smcr_pos_apply(ring, &pos,
					    smcr_pos_cursor(ring, &to), limit);
			EXPECT_EQ(rc, abs + n <= limit ? (int)n : -EPROTO);
			EXPECT_EQ(pos.abs, rc < 0 ? abs : abs + n);
		}
		/* with a limit below the position nothing is accepted */
		if (cap > 1) {
			struct smcr_pos pos = pos_at(ring, 1);
			struct smcr_cursor cur = smcr_pos_cursor(ring, &pos);

			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur, 0), -EPROTO);
			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur, 1), 0);
		}
	}
}

TEST(smcr_pos_apply__full_and_empty)
{
	u32 r, i;

	/* equal counts: empty if the wrap numbers are equal, else full */
	covers("CDC-15 CDC-19 CDC-32");
	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		const struct smcr_ring *ring = &rings[r];
		u32 cap = smcr_ring_cap(ring);

		for (i = 0; i < 300; i++) {
			u64 abs = rnd64() >> 20;
			struct smcr_pos pos = pos_at(ring, abs);
			struct smcr_cursor cur = smcr_pos_cursor(ring, &pos);

			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur, abs + cap),
				  0);
			cur.wrap++;
			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur, abs + cap),
				  cap);
			EXPECT_EQ(pos.abs, abs + cap);
			/* more than full */
			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur, pos.abs), 0);
			cur.wrap++;
			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur,
						 pos.abs + cap - 1), -EPROTO);
			/* backwards */
			cur.wrap -= 2;
			EXPECT_EQ(smcr_pos_apply(ring, &pos, cur,
						 pos.abs + cap), -EPROTO);
		}
	}
}

TEST(smcr_pos_apply__consumer_own_wraps)
{
	const struct smcr_ring ring = { 4, 16384 };
	struct smcr_pos prod = { 0 }, cons = { 0 }, seen = { 0 };
	u32 i;

	/*
	 * I-07: the consumer counts its own wraps, so its pair never runs
	 * ahead of the producer's, and the same pair means all consumed.
	 */
	covers("CDC-14");
	for (i = 0; i < 100000; i++) {
		u32 used = (u32)(prod.abs - cons.abs);
		u32 n = rnd(used + 1);
		struct smcr_cursor p, c;
		int rc;

		smcr_pos_add(&ring, &cons, n);
		p = smcr_pos_cursor(&ring, &prod);
		c = smcr_pos_cursor(&ring, &cons);
		EXPECT_TRUE(c.wrap == p.wrap ||
			    (u16)(c.wrap + 1) == p.wrap);
		EXPECT_TRUE(c.wrap != p.wrap || c.count <= p.count);
		EXPECT_EQ(p.wrap == c.wrap && p.count == c.count, n == used);

		rc = smcr_pos_apply(&ring, &seen, c, prod.abs);
		EXPECT_EQ(rc, n);
		/* a pair ahead of the producer is refused */
		if (n == used) {
			struct smcr_pos ahead = cons;

			smcr_pos_add(&ring, &ahead, 1);
			c = smcr_pos_cursor(&ring, &ahead);
			EXPECT_EQ(smcr_pos_apply(&ring, &seen, c, prod.abs),
				  -EPROTO);
		}
		smcr_pos_add(&ring, &prod,
			     rnd(smcr_ring_cap(&ring) - (used - n) + 1));
	}
}

/* All cursors of a small ring, around its first wraps and around that of 16 bits */
TEST(smcr_pos_behind__all)
{
	static const u32 starts[] = { 0, 1, 5, 13, 65534 * 13, 65536 * 13 + 7 };
	const struct smcr_ring ring = { .base = 4, .size = 17 };
	struct smcr_pos pos, was;
	struct smcr_cursor c;
	u32 s, i, back;

	covers("FO-10");
	for (s = 0; s < ARRAY_SIZE(starts); s++) {
		memset(&pos, 0, sizeof(pos));
		for (i = 0; i < starts[s]; i++)
			smcr_pos_add(&ring, &pos, 1);
		for (i = 0; i < 60; i++, smcr_pos_add(&ring, &pos, 1)) {
			for (back = 0; back < 30 && back <= pos.abs; back++) {
				memset(&was, 0, sizeof(was));
				was.abs = pos.abs - back;
				was.off = was.abs % 13;
				was.wrap = (u16)(was.abs / 13);
				c = smcr_pos_cursor(&ring, &was);
				EXPECT_EQ(smcr_pos_behind(&ring, &pos, c),
					  back >= 1 && back <= 13);
			}
			/* before the start, ahead, outside */
			c = (struct smcr_cursor){ (u16)(pos.wrap + 1), 4 };
			EXPECT_FALSE(smcr_pos_behind(&ring, &pos, c));
			c = (struct smcr_cursor){ pos.wrap, 3 };
			EXPECT_FALSE(smcr_pos_behind(&ring, &pos, c));
			c = (struct smcr_cursor){ (u16)(pos.wrap - 1), 17 };
			EXPECT_FALSE(smcr_pos_behind(&ring, &pos, c));
			c = (struct smcr_cursor){ (u16)(pos.wrap - 1), 16 };
			if (pos.abs < 13)
				EXPECT_FALSE(smcr_pos_behind(&ring, &pos, c));
		}
	}
}

TEST(smcr_seq_after__pairs)
{
	static const struct {
		u16 a, b;
		bool after;
	} pair[] = {
		{ 1, 0, true }, { 0, 1, false }, { 0, 0, false },
		{ 0, 65535, true }, { 65535, 0, false },
		{ 65535, 65534, true }, { 65535, 65535, false },
		{ 32767, 0, true }, { 32768, 0, false }, { 32769, 0, false },
		{ 0, 32769, true }, { 0, 32768, false }, { 0, 32767, false },
		{ 32768, 1, true }, { 32768, 32767, true },
		{ 32767, 32768, false }, { 100, 65500, true },
		{ 65500, 100, false },
	};
	u32 i, a, n;

	covers("CDC-10");
	for (i = 0; i < ARRAY_SIZE(pair); i++)
		EXPECT_EQ(smcr_seq_after(pair[i].a, pair[i].b), pair[i].after);

	/* the same for all numbers, across the wrap */
	for (a = 0; a < 65536; a++) {
		EXPECT_FALSE(smcr_seq_after((u16)a, (u16)a));
		for (n = 1; n < 32768; n += n < 3 || n > 32764 ? 1 : 1091) {
			EXPECT_TRUE(smcr_seq_after((u16)(a + n), (u16)a));
			EXPECT_FALSE(smcr_seq_after((u16)a, (u16)(a + n)));
		}
	}
}
