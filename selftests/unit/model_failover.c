// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two model peers whose link fails again and again, when a part of what was
 * posted has arrived, and a smaller part was acknowledged. Each moves to
 * another link by net/core/failover.c, and no byte may be lost, doubled or
 * wrong. See model.h.
 */
#include "model.h"

#include "failover.h"

/* State of one side, beside its struct peer */
struct mover {
	struct smcr_fo fo;
	u64 abs_of[65536];	/* producer of each CDC, by sequence number */
	u16 arrived;		/* the last CDC that has arrived */
	u16 signalled;		/* the last CDC whose completion is pending */
};

/* Rules that a test breaks, to check that it detects that */
enum {
	BAD_TOO_LITTLE = 1,	/* repeat from the last CDC that was posted */
	BAD_CONSUMED,		/* repeat what was read without a completion */
	BAD_SEQ,		/* F with the last sequence number */
	BAD_NO_STATE,		/* no CDC behind F if there are no data */
};

static struct peer a, b;
static struct mover ma, mb;
static u32 bad, moves, rewritten, valid_failed;

static void posted(struct peer *p, struct mover *m)
{
	m->abs_of[p->seq] = p->prod.abs;
}

/* A completion, of one CDC that has arrived */
static void complete(struct mover *m)
{
	u16 d = (u16)(m->arrived - m->fo.seq);

	if (!d)
		return;
	d = (u16)(m->fo.seq + 1 + rnd(d));
	smcr_fo_done(&m->fo, d, m->abs_of[d]);
}

/* Write [from, to) again, and announce nothing */
static void rewrite(struct peer *p, struct smcr_pos from, u64 to)
{
	while (from.abs < to) {
		struct item *item = wire_add(p->out);
		u32 n = smcr_ring_cap(&p->tx) - from.off;

		item->is_cdc = false;
		item->dst = p->tx.base + from.off;
		item->len = min_t(u32, n, (u32)(to - from.abs));
		item->abs = from.abs;
		smcr_pos_add(&p->tx, &from, item->len);
		rewritten++;
	}
}

/* Move to another link; false if the peer does not accept the F */
static bool move(struct peer *p, struct mover *m, const struct peer *to)
{
	struct smcr_fo_facts facts = {
		.seq = p->seq,
		.prod = p->prod,
		.cons = p->peer_cons,
	};
	struct smcr_fo_plan plan;

	p->out->n = 0;
	smcr_fo_plan(&m->fo, &p->tx, &facts, &plan);
	EXPECT_TRUE(plan.validate);
	EXPECT_LE(plan.prod.abs, p->prod.abs);
	if (bad == BAD_SEQ)
		plan.seq = p->seq;
	if (bad == BAD_TOO_LITTLE)
		plan.prod = p->prod;
	if (bad == BAD_CONSUMED && m->fo.abs < plan.prod.abs) {
		u32 back = (u32)(plan.prod.abs - m->fo.abs);
		u32 cap = smcr_ring_cap(&p->tx);

		/* writes old bytes where newer ones may be */
		plan.prod.abs -= back;
		plan.prod.off = (plan.prod.off + cap - back % cap) % cap;
	}
	if (!smcr_fo_valid(plan.seq, to->peer_seq)) {
		valid_failed++;
		return false;
	}
	moves++;
	if (!plan.redo)
		return true;
	if (bad == BAD_NO_STATE && plan.prod.abs == p->prod.abs)
		return true;
	rewrite(p, plan.prod, p->prod.abs);
	peer_send_cdc(p);
	posted(p, m);
	return true;
}

static bool arrive(struct peer *to, struct mover *of, struct peer *from)
{
	struct item *item = wire_take(from->out);

	if (!peer_deliver(to, item, from))
		return false;
	if (item->is_cdc)
		of->arrived = to->peer_seq;
	return true;
}

static bool push(struct peer *p, struct mover *m, u32 max)
{
	u16 seq = p->seq;

	if (!peer_push(p, max))
		return false;
	if (p->seq != seq)
		posted(p, m);
	return true;
}

static bool settle(void)
{
	bool more = true;

	while (more) {
		u16 sa = a.seq, sb = b.seq;

		more = push(&a, &ma, ~0U) | push(&b, &mb, ~0U);
		for (; a.out->n; more = true)
			if (!arrive(&b, &ma, &a))
				return false;
		for (; b.out->n; more = true)
			if (!arrive(&a, &mb, &b))
				return false;
		if (a.seq != sa)
			posted(&a, &ma);
		if (b.seq != sb)
			posted(&b, &mb);
	}
	return true;
}

/* One random step; false if a rule is broken */
static bool act(struct peer *p, struct mover *m, struct peer *q,
		struct mover *mq, u64 bytes)
{
	u32 unread = peer_unread(p), i, n;
	u16 seq = p->seq;

	switch (rnd(10)) {
	case 0:
	case 1:
		n = rnd(smcr_ring_cap(&p->tx)) + 1;
		if (n > bytes - p->written)
			n = (u32)(bytes - p->written);
		if (n && peer_unsent(p) + n <= 3ULL * smcr_ring_cap(&p->tx))
			peer_write(p, n, false);
		break;
	case 2:
	case 3:
		if (unread && !peer_read(p, rnd(unread) + 1))
			return false;
		break;
	case 4:
	case 5:
		push(p, m, rnd_bool() ? ~0U : rnd(50) + 1);
		break;
	case 6:
	case 7:
		for (i = rnd(6); i && q->out->n; i--)
			if (!arrive(p, mq, q))
				return false;
		break;
	case 8:
		complete(m);
		break;
	case 9:
		if (rnd(4))
			break;
		/* a part of what is on its way still arrives */
		for (i = rnd(4); i && p->out->n; i--)
			if (!arrive(q, m, p))
				return false;
		for (i = rnd(4); i && q->out->n; i--)
			if (!arrive(p, mq, q))
				return false;
		if (!move(p, m, q) || !move(q, mq, p))
			return false;
		break;
	}
	/* reading may have sent a window update */
	if (p->seq != seq)
		posted(p, m);
	return true;
}

static bool transfer(struct smcr_ring ra, struct smcr_ring rb, u64 bytes)
{
	bool ok = true;
	u32 i;

	peer_init(&a, "A", rnd64(), ra);
	peer_init(&b, "B", rnd64(), rb);
	peers_connect(&a, &b);
	memset(&ma, 0, sizeof(ma));
	memset(&mb, 0, sizeof(mb));
	for (i = 0; ok && i < 200000; i++) {
		bool first = rnd_bool();

		if (a.out->n > WIRE_MAX - 100 || b.out->n > WIRE_MAX - 100)
			ok = settle();
		else if (first)
			ok = act(&a, &ma, &b, &mb, bytes);
		else
			ok = act(&b, &mb, &a, &ma, bytes);
		if (a.cons.abs == bytes && b.cons.abs == bytes)
			break;
		if (ok && i % 4096 == 4095)
			ok = settle();
	}
	if (a.cons.abs != bytes || b.cons.abs != bytes)
		ok = false;
	peer_exit(&a);
	peer_exit(&b);
	return ok;
}

static struct smcr_ring rnd_ring(void)
{
	struct smcr_ring ring = { .base = rnd_bool() ? 4 : 0 };

	ring.size = ring.base + rnd_in(1, rnd_bool() ? 300 : 20);
	return ring;
}

TEST(model_failover__no_byte_is_lost)
{
	u32 i;

	covers("FO-04 FO-05 FO-09 FO-10 FO-11 FO-12");
	moves = 0;
	rewritten = 0;
	for (i = 0; i < 1500; i++)
		ASSERT_TRUE(transfer(rnd_ring(), rnd_ring(),
				     rnd_in(1, 1500)));
	EXPECT_LE(1000, moves);
	EXPECT_LE(1000, rewritten);
	EXPECT_EQ(valid_failed, 0);
	printf("# %u moves, %u writes done again\n", moves, rewritten);
}

/* The test has to fail when a rule is broken */
static bool noticed(u32 what)
{
	bool ok = true;
	u32 i;

	bad = what;
	for (i = 0; ok && i < 300; i++)
		ok = transfer(rnd_ring(), rnd_ring(), rnd_in(100, 1500));
	bad = 0;
	return !ok;
}

TEST(model_failover__notices_mistakes)
{
	EXPECT_TRUE(noticed(BAD_TOO_LITTLE));
	EXPECT_TRUE(noticed(BAD_CONSUMED));
	EXPECT_TRUE(noticed(BAD_NO_STATE));
	valid_failed = 0;
	EXPECT_TRUE(noticed(BAD_SEQ));
	EXPECT_LE(1, valid_failed);
	valid_failed = 0;
}

TEST(smcr_fo_plan__nothing_acknowledged)
{
	struct smcr_ring ring = { 4, 104 };
	struct smcr_fo_facts facts = { .seq = 3 };
	struct smcr_fo fo = { 0 };
	struct smcr_fo_plan plan;

	covers("FO-25");
	smcr_pos_add(&ring, &facts.prod, 70);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_TRUE(plan.validate);
	EXPECT_TRUE(plan.redo);
	EXPECT_EQ(plan.seq, 0);
	EXPECT_EQ(plan.prod.abs, 0);
	EXPECT_TRUE(smcr_fo_valid(plan.seq, 0));
}

TEST(smcr_fo_plan__nothing_lost)
{
	struct smcr_ring ring = { 0, 100 };
	struct smcr_fo_facts facts = { .seq = 3 };
	struct smcr_fo fo = { 0 };
	struct smcr_fo_plan plan;

	covers("CDC-44 FO-06");
	smcr_pos_add(&ring, &facts.prod, 70);
	smcr_fo_done(&fo, 3, 70);
	smcr_fo_done(&fo, 2, 50);	/* reported late */
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_TRUE(plan.validate);
	EXPECT_FALSE(plan.redo);
	EXPECT_EQ(plan.seq, 3);
	EXPECT_EQ(plan.prod.abs, 70);
	/* after a C that has arrived no CDC follows */
	facts.closed = true;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_FALSE(plan.validate);
	/* a C that may not have arrived is repeated */
	facts.seq = 4;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_TRUE(plan.validate);
	EXPECT_TRUE(plan.redo);
}

/* Sequence numbers wrap behind 65535, positions do not */
TEST(smcr_fo_done__around_the_wrap)
{
	struct smcr_fo fo = { 0 };
	u32 i;

	covers("FO-04");
	for (i = 1; i < 200000; i++) {
		smcr_fo_done(&fo, (u16)i, i * 3);
		/* of several completions the newest one counts */
		smcr_fo_done(&fo, (u16)(i - i % 1000), i);
		if (fo.seq != (u16)i || fo.abs != i * 3)
			break;
	}
	EXPECT_EQ(i, 200000);
	fo = (struct smcr_fo){ .seq = 65535, .abs = 7 };
	smcr_fo_done(&fo, 0, 9);
	EXPECT_EQ(fo.seq, 0);
	EXPECT_EQ(fo.abs, 9);
}

TEST(smcr_fo_plan__no_data_after_an_abort)
{
	struct smcr_ring ring = { 4, 104 };
	struct smcr_fo_facts facts = { .seq = 3, .aborted = true };
	struct smcr_fo fo = { 0 };
	struct smcr_fo_plan plan;

	covers("RMB-22 RMB-26");
	smcr_pos_add(&ring, &facts.prod, 70);
	smcr_fo_done(&fo, 1, 20);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	/* A may have been lost; the bytes before it are not repeated */
	EXPECT_TRUE(plan.redo);
	EXPECT_EQ(plan.seq, 1);
	EXPECT_EQ(plan.prod.abs, 70);
	EXPECT_EQ(plan.prod.off, facts.prod.off);
}

/* All on a drained link has arrived, but not what an earlier link lost */
TEST(smcr_fo_plan__drained)
{
	struct smcr_ring ring = { 4, 104 };
	struct smcr_fo_facts facts = { .seq = 45, .drained = true };
	struct smcr_fo fo = { .seq = 40, .abs = 20 };
	struct smcr_fo_plan plan;

	covers("FO-04 FO-16");
	smcr_pos_add(&ring, &facts.prod, 70);
	facts.behind = true;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_TRUE(plan.redo);
	EXPECT_EQ(plan.seq, 40);
	EXPECT_EQ(plan.prod.abs, 20);
	EXPECT_EQ(fo.seq, 40);
	facts.behind = false;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_FALSE(plan.redo);
	EXPECT_EQ(plan.seq, 45);
	EXPECT_EQ(plan.prod.abs, 70);
	EXPECT_EQ(fo.abs, 70);
}

/* The old link may still deliver bytes: no data beyond a ring from there */
TEST(smcr_fo_plan__bound)
{
	struct smcr_ring ring = { 4, 104 };
	struct smcr_fo_facts facts = { .seq = 45 };
	const struct smcr_fo once = { .seq = 40, .abs = 20 };
	struct smcr_fo fo = once;
	struct smcr_fo_plan plan;

	covers("FO-03");
	smcr_pos_add(&ring, &facts.prod, 70);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, 120);
	fo = once;
	/* what the peer has read is not written again */
	smcr_pos_add(&ring, &facts.cons, 30);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, 130);
	/* no data follow A, so that there is no bound */
	facts.aborted = true;
	fo = once;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, U64_MAX);
	facts.aborted = false;
	fo = once;
	smcr_pos_add(&ring, &facts.cons, 40);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, U64_MAX);
	EXPECT_TRUE(plan.redo);
}

/*
 * The peer has read the copy of the first link, and the network holds that of
 * the second one
 */
TEST(smcr_fo_plan__bound_of_a_second_copy)
{
	struct smcr_ring ring = { 4, 104 };
	struct smcr_fo_facts facts = { .seq = 45 };
	struct smcr_fo fo = { .seq = 40, .abs = 20 };
	struct smcr_fo_plan plan;
	struct smcr_fo both;

	covers("FO-03");
	smcr_pos_add(&ring, &facts.prod, 70);
	smcr_pos_add(&ring, &facts.cons, 30);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.prod.abs, 30);
	both = fo;
	/* a second loss: all was read, 30 to 70 may still come again */
	facts.seq = 46;
	smcr_pos_add(&ring, &facts.cons, 40);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.prod.abs, 70);
	EXPECT_EQ(plan.bound, 130);
	/* a third loss: nothing was written again on that link */
	facts.seq = 47;
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, U64_MAX);
	/* the second copy of 30 to 50 has arrived */
	fo = both;
	smcr_fo_done(&fo, 46, 50);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, 150);
	/* all of it has */
	fo = both;
	smcr_fo_done(&fo, 46, 70);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.bound, U64_MAX);
	/* a part is written a third time: what was written twice limits */
	fo = both;
	facts.prod = facts.cons;
	facts.cons = (struct smcr_pos){ 0 };
	smcr_pos_add(&ring, &facts.cons, 40);
	smcr_fo_plan(&fo, &ring, &facts, &plan);
	EXPECT_EQ(plan.prod.abs, 40);
	EXPECT_EQ(plan.bound, 130);
}

TEST(smcr_fo_valid__around_the_wrap)
{
	covers("FO-08");
	EXPECT_TRUE(smcr_fo_valid(5, 5));
	EXPECT_TRUE(smcr_fo_valid(4, 5));
	EXPECT_FALSE(smcr_fo_valid(6, 5));
	EXPECT_TRUE(smcr_fo_valid(65535, 0));
	EXPECT_TRUE(smcr_fo_valid(65535, 65535));
	EXPECT_FALSE(smcr_fo_valid(0, 65535));
}
