// SPDX-License-Identifier: GPL-2.0-only
/* Tests of net/core/window.c: send plans and window updates. */
#include "model.h"

static const struct smcr_ring rings[] = {
	{ 0, 1 }, { 4, 5 }, { 0, 2 }, { 4, 7 }, { 0, 13 }, { 4, 100 },
	{ 4, 10000 }, { 0, 16384 }, { 4, 16384 }, { 4, 524288 }, { 0, 524288 },
};

static struct smcr_pos pos_at(const struct smcr_ring *ring, u64 abs)
{
	u32 cap = smcr_ring_cap(ring);
	struct smcr_pos pos = {
		.abs = abs,
		.off = (u32)(abs % cap),
		.wrap = (u16)(abs / cap),
	};

	return pos;
}

TEST(smcr_tx_plan__properties)
{
	u32 r, i;

	covers("CDC-16 CDC-17 CDC-31");
	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		const struct smcr_ring *ring = &rings[r];
		u32 cap = smcr_ring_cap(ring);

		for (i = 0; i < 5000; i++) {
			u64 cons = rnd64() >> (1 + rnd(40));
			u32 used = rnd(4) ? rnd(cap + 1) :
				   rnd_bool() ? cap : 0;
			struct smcr_pos prod = pos_at(ring, cons + used);
			u64 unsent = rnd(4) ? rnd(2 * cap + 1) : rnd64();
			u32 max = rnd(4) ? rnd(2 * cap + 1) : ~0U;
			struct smcr_tx_plan plan;
			u64 want = cap - used;
			bool blocked, silly;

			smcr_tx_plan(ring, &prod, cons, unsent, max, &plan);

			/* as much as possible, never more, but no silly window */
			silly = unsent > want && want < 8192 && want < cap / 8;
			blocked = silly || (max >= want && unsent > want);
			want = want < unsent ? want : unsent;
			want = silly ? 0 : want < max ? want : max;
			ASSERT_EQ(plan.len, want);

			/* one piece, or two around the end of the ring */
			EXPECT_EQ(plan.seg[0].len + plan.seg[1].len, plan.len);
			EXPECT_EQ(plan.n_seg, !!plan.seg[0].len +
					      !!plan.seg[1].len);
			EXPECT_EQ(plan.n_seg == 2, plan.len > cap - prod.off);
			if (plan.n_seg) {
				EXPECT_EQ(plan.seg[0].dst,
					  ring->base + prod.off);
				EXPECT_LE(plan.seg[0].dst + plan.seg[0].len,
					  ring->size);
			}
			if (plan.n_seg == 2) {
				EXPECT_EQ(plan.seg[0].dst + plan.seg[0].len,
					  ring->size);
				EXPECT_EQ(plan.seg[1].dst, ring->base);
				EXPECT_LE(plan.seg[1].dst + plan.seg[1].len,
					  ring->base + prod.off);
			}

			/* B: the window is closed now, and data remain */
			EXPECT_EQ(plan.blocked, blocked);
		}
	}
}

TEST(smcr_tx_plan__initial_window)
{
	struct smcr_tx_plan plan;
	u32 r;

	/* nothing was exchanged yet: the whole ring may be written */
	covers("CDC-48");
	for (r = 0; r < ARRAY_SIZE(rings); r++) {
		struct smcr_pos prod = { 0 };

		EXPECT_EQ(smcr_pos_cursor(&rings[r], &prod).count,
			  rings[r].base);
		EXPECT_EQ(smcr_pos_cursor(&rings[r], &prod).wrap, 0);
		smcr_tx_plan(&rings[r], &prod, 0, 1 << 30, ~0U, &plan);
		EXPECT_EQ(plan.len, smcr_ring_cap(&rings[r]));
		EXPECT_EQ(plan.n_seg, 1);
		EXPECT_EQ(plan.seg[0].dst, rings[r].base);
		EXPECT_TRUE(plan.blocked);
	}
}

TEST(smcr_tx_plan__max_is_no_block)
{
	const struct smcr_ring ring = { 4, 104 };
	struct smcr_pos prod = { 0 };
	struct smcr_tx_plan plan;

	covers("CDC-31");
	smcr_tx_plan(&ring, &prod, 0, 1000, 99, &plan);
	EXPECT_EQ(plan.len, 99);
	EXPECT_FALSE(plan.blocked);
	smcr_tx_plan(&ring, &prod, 0, 1000, 100, &plan);
	EXPECT_EQ(plan.len, 100);
	EXPECT_TRUE(plan.blocked);
	/* filled, but nothing remains */
	smcr_tx_plan(&ring, &prod, 0, 100, 100, &plan);
	EXPECT_EQ(plan.len, 100);
	EXPECT_FALSE(plan.blocked);
	smcr_tx_plan(&ring, &prod, 0, 1000, 0, &plan);
	EXPECT_EQ(plan.len, 0);
	EXPECT_EQ(plan.n_seg, 0);
	EXPECT_FALSE(plan.blocked);
	smcr_pos_add(&ring, &prod, 100);
	smcr_tx_plan(&ring, &prod, 0, 1, 0, &plan);
	EXPECT_TRUE(plan.blocked);
	smcr_tx_plan(&ring, &prod, 0, 0, 100, &plan);
	EXPECT_FALSE(plan.blocked);
}

TEST(smcr_tx_plan__impossible_window)
{
	const struct smcr_ring ring = { 4, 104 };
	struct smcr_pos prod = pos_at(&ring, 1000);
	struct smcr_tx_plan plan;

	/* more unconsumed than fits, or consumed what was never sent */
	smcr_tx_plan(&ring, &prod, 899, 10, 10, &plan);
	EXPECT_EQ(plan.len, 0);
	smcr_tx_plan(&ring, &prod, 1001, 10, 10, &plan);
	EXPECT_EQ(plan.len, 0);
}

static bool due(u32 cap, u32 window, u32 gain, bool b, bool r)
{
	struct smcr_rx_window win = {
		.cap = cap,
		.prod_abs = 1000000 + cap - window,
		.announced_abs = 1000000,
		.cons_abs = 1000000 + gain,
		.peer_blocked = b,
		.peer_asks = r,
	};

	return smcr_rx_update_due(&win);
}

TEST(smcr_rx_update_due__rfc_examples)
{
	enum { K = 1024 };

	covers("CDC-24");
	EXPECT_FALSE(due(64 * K, 50 * K, 14 * K, false, false));
	EXPECT_FALSE(due(64 * K, 30 * K, 1 * K, false, false));
	EXPECT_TRUE(due(64 * K, 30 * K, 34 * K, false, false));
}

TEST(smcr_rx_update_due__thresholds)
{
	u32 cap, window, gain;

	covers("CDC-24");
	for (cap = 1; cap <= 40; cap++)
		for (window = 0; window <= cap; window++)
			for (gain = 0; gain <= cap - window; gain++)
				EXPECT_EQ(due(cap, window, gain, false, false),
					  gain && window * 2 < cap &&
					  gain * 10 >= cap);
	/* no overflow with the largest ring that can be imagined */
	EXPECT_TRUE(due(0x80000000, 0, 0x80000000, false, false));
	EXPECT_FALSE(due(0x80000000, 0x40000000, 0x40000000, false, false));
}

TEST(smcr_rx_update_due__flags)
{
	u32 window, gain;

	covers("CDC-26 CDC-27");
	/* any gain at all, but no gain is never announced */
	for (window = 0; window <= 100; window++) {
		for (gain = 1; gain <= 100 - window; gain++) {
			EXPECT_TRUE(due(100, window, gain, true, false));
			EXPECT_TRUE(due(100, window, gain, false, true));
		}
		EXPECT_FALSE(due(100, window, 0, true, true));
	}
}

TEST(smcr_rx_update_due__never_negative)
{
	struct smcr_rx_window win = { .cap = 100, .prod_abs = 300 };

	/* more than a ring is unannounced: impossible, and no window */
	win.cons_abs = 10;
	EXPECT_TRUE(smcr_rx_update_due(&win));
}

/*
 * The six scenarios of RFC 7609 4.7, with E = 10000 as there. The trace has
 * "W offset+length" for an RDMA write, and "C producer consumer flags" with
 * "count/wrap" cursors for a CDC message. The figures' slips are corrected as
 * in I-40.
 */
static struct peer host_a, host_b;
static char trace[1000];

/* Host A's producer and Host B's consumer start at @abs */
static void scenario(u64 abs)
{
	const struct smcr_ring ring = { 4, 10000 };

	peer_init(&host_a, "A", 1, ring);
	peer_init(&host_b, "B", 2, ring);
	peers_connect(&host_a, &host_b);
	host_a.prod = pos_at(&ring, abs);
	host_a.peer_cons = host_a.prod;
	host_a.written = abs;
	host_b.peer_prod = host_a.prod;
	host_b.cons = host_a.prod;
	host_b.ackable = host_a.prod;
	host_b.announced = abs;
	trace[0] = 0;
}

/* Everything that is due happens, B's application does not read */
static void settle(void)
{
	bool more = true;

	while (more) {
		more = peer_push(&host_a, ~0U);
		more |= peer_push(&host_b, ~0U);
		while (host_a.out->n) {
			EXPECT_TRUE(peer_deliver(&host_b,
						 wire_take(host_a.out),
						 &host_a));
			more = true;
		}
		while (host_b.out->n) {
			EXPECT_TRUE(peer_deliver(&host_a,
						 wire_take(host_b.out),
						 &host_b));
			more = true;
		}
	}
}

/* What the traced peer has sent since the last call */
static const char *said(void)
{
	static char last[sizeof(trace)];

	memcpy(last, trace, sizeof(last));
	trace[0] = 0;
	host_a.trace_len = 0;
	host_b.trace_len = 0;
	return last;
}

/* One step: trace A's or B's messages only, until both are quiet */
static void step(struct peer *traced)
{
	host_a.trace = NULL;
	host_b.trace = NULL;
	traced->trace = trace;
	settle();
	traced->trace = NULL;
}

static void read_all(void)
{
	host_b.trace = trace;
	EXPECT_TRUE(peer_read(&host_b, peer_unread(&host_b)));
	host_b.trace = NULL;
}

static void scenario_end(void)
{
	peer_exit(&host_a);
	peer_exit(&host_b);
}

TEST(flow__scenario_1_unconstrained)
{
	covers("CDC-30");
	scenario(0);
	peer_write(&host_a, 1000, false);
	step(&host_a);
	EXPECT_STR(said(), "W 4+1000\nC 1004/0 4/0\n");
	read_all();
	EXPECT_STR(said(), "");
	scenario_end();
}

TEST(flow__scenario_2_send_receive)
{
	covers("CDC-25 CDC-30");
	scenario(0);
	peer_write(&host_a, 1000, false);
	step(&host_a);
	said();
	read_all();
	EXPECT_STR(said(), "");
	peer_write(&host_b, 500, false);
	step(&host_b);
	EXPECT_STR(said(), "W 4+500\nC 504/0 1004/0\n");
	EXPECT_EQ(host_a.peer_cons.abs, 1000);
	EXPECT_TRUE(peer_read(&host_a, 500));
	scenario_end();
}

TEST(flow__scenario_3_constrained)
{
	covers("CDC-29 CDC-30");
	scenario(0);
	peer_write(&host_a, 3000, false);
	step(&host_a);
	EXPECT_STR(said(), "W 4+3000\nC 3004/0 4/0\n");
	read_all();
	EXPECT_STR(said(), "");
	peer_write(&host_a, 4000, false);
	step(&host_a);
	EXPECT_STR(said(), "W 3004+4000\nC 7004/0 4/0\n");
	/* for the sender 2996 bytes are free, in fact all but 4000 */
	read_all();
	EXPECT_STR(said(), "C 4/0 7004/0\n");
	scenario_end();
}

TEST(flow__scenario_4_full_window)
{
	/* capacity 9996; 8996 and 1000 bytes a round, 8 of 20000 remain */
	covers("CDC-15 CDC-17 CDC-31 CDC-32");
	scenario(9996 + 1000);
	peer_write(&host_a, 20000, false);
	step(&host_a);
	EXPECT_STR(said(), "W 1004+8996\nW 4+1000\nC 1004/2 4/0 80\n");
	EXPECT_EQ(peer_unread(&host_b), 9996);
	read_all();
	EXPECT_STR(said(), "C 4/0 1004/2\n");
	step(&host_a);
	EXPECT_STR(said(), "W 1004+8996\nW 4+1000\nC 1004/3 4/0 80\n");
	read_all();
	EXPECT_STR(said(), "C 4/0 1004/3\n");
	EXPECT_EQ(peer_unsent(&host_a), 8);
	step(&host_a);
	EXPECT_STR(said(), "W 1004+8\nC 1012/3 4/0\n");
	read_all();
	EXPECT_STR(said(), "");
	scenario_end();
}

TEST(flow__scenario_5_urgent_window_open)
{
	covers("CDC-34 CDC-36 CDC-37 CDC-38");
	scenario(9996 + 996);
	peer_write(&host_a, 500, true);
	peer_write(&host_a, 1000, false);
	step(&host_a);
	EXPECT_STR(said(), "W 1000+500\nC 1500/1 4/0 60\n");
	EXPECT_EQ(host_b.urg.state, SMCR_URG_PRESENT);
	EXPECT_EQ(host_b.urg.mark, 9996 + 996 + 499);
	read_all();
	EXPECT_STR(said(), "C 4/0 1500/1\n");
	step(&host_a);
	EXPECT_STR(said(), "W 1500+1000\nC 2500/1 4/0\n");
	EXPECT_EQ(host_b.urg.state, SMCR_URG_NONE);
	EXPECT_EQ(host_b.n_news, 1);
	read_all();
	EXPECT_STR(said(), "");
	scenario_end();
}

TEST(flow__scenario_6_urgent_window_closed)
{
	covers("CDC-39");
	scenario(9996 + 996);
	peer_write(&host_a, 9996, false);
	step(&host_a);
	EXPECT_STR(said(), "W 1000+9000\nW 4+996\nC 1000/2 4/0\n");
	peer_write(&host_a, 500, true);
	peer_write(&host_a, 1000, false);
	step(&host_a);
	EXPECT_STR(said(), "C 1000/2 4/0 c0\n");
	EXPECT_EQ(host_b.urg.state, SMCR_URG_PENDING);
	EXPECT_EQ(host_b.n_news, 1);
	read_all();
	EXPECT_STR(said(), "C 4/0 1000/2\n");
	step(&host_a);
	EXPECT_STR(said(), "W 1000+500\nC 1500/2 4/0 60\n");
	EXPECT_EQ(host_b.urg.mark, 2 * 9996 + 996 + 499);
	EXPECT_EQ(host_b.n_news, 1);
	read_all();
	EXPECT_STR(said(), "C 4/0 1500/2\n");
	step(&host_a);
	EXPECT_STR(said(), "W 1500+1000\nC 2500/2 4/0\n");
	scenario_end();
}

TEST(flow__full_window_writes_of_appendix)
{
	/* conformance catalogue F.12: E = 16384, 32768 bytes */
	const struct smcr_ring ring = { 4, 16384 };

	covers("CDC-31 CDC-32");
	peer_init(&host_a, "A", 1, ring);
	peer_init(&host_b, "B", 2, ring);
	peers_connect(&host_a, &host_b);
	peer_write(&host_a, 32768, false);
	step(&host_a);
	EXPECT_STR(said(), "W 4+16380\nC 4/1 4/0 80\n");
	read_all();
	EXPECT_STR(said(), "C 4/0 4/1\n");
	step(&host_a);
	EXPECT_STR(said(), "W 4+16380\nC 4/2 4/0 80\n");
	read_all();
	EXPECT_STR(said(), "C 4/0 4/2\n");
	step(&host_a);
	EXPECT_STR(said(), "W 4+8\nC 12/2 4/0\n");
	scenario_end();
}
