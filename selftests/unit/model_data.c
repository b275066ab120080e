// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two model peers exchange random data in both directions, with rings of
 * different sizes and random delays: every byte arrives, and no peer waits for
 * space that is there. See model.h.
 */
#include "model.h"

struct setup {
	struct smcr_ring ring_a;
	struct smcr_ring ring_b;
	u64 bytes;		/* for each direction */
	bool urgent;		/* now and then */
	bool inlined;		/* such bytes stay in the stream */
	u32 breaks;
};

/* Why a run ended */
enum outcome {
	GOOD,
	BAD_DATA,		/* a byte is wrong */
	BAD_MESSAGE,		/* a message breaks a rule */
	LOST_WAKEUP,		/* space was freed, but not announced to the writer */
	STALLED,		/* nothing moves any more */
};

static const char * const outcome_name[] = {
	"good", "bad data", "bad message", "lost wakeup", "stalled",
};

static struct peer a, b;

/* All on the wire arrives, and all that is sent in return; without reads */
static enum outcome settle(void)
{
	bool more = true;

	while (more) {
		more = peer_push(&a, ~0U) | peer_push(&b, ~0U);
		for (; a.out->n; more = true)
			if (!peer_deliver(&b, wire_take(a.out), &a))
				return BAD_MESSAGE;
		for (; b.out->n; more = true)
			if (!peer_deliver(&a, wire_take(b.out), &b))
				return BAD_MESSAGE;
	}
	return GOOD;
}

/* At rest: does @w wait although @r has space that it has not announced? */
static bool wakeup_lost(const struct peer *w, const struct peer *r)
{
	u32 cap = smcr_ring_cap(&w->tx);
	u32 space = cap - (u32)(w->prod.abs - w->peer_cons.abs);

	if (!peer_unsent(w))
		return false;
	if (w->urg_tx.announced)
		return r->ackable.abs >= w->urg_tx.announced;
	return r->ackable.abs != w->peer_cons.abs || peer_unsent(w) <= space ||
	       space >= max(min(cap / 8, SMCR_TX_SWS_MIN), 1U);
}

static enum outcome check_settled(void)
{
	enum outcome rc = settle();

	if (rc == GOOD && (wakeup_lost(&a, &b) || wakeup_lost(&b, &a)))
		rc = LOST_WAKEUP;
	return rc;
}

static u32 some(u32 max)
{
	return rnd(4) ? rnd(max / 8 + 2) : rnd(2 * max);
}

/* One random step of @p */
static enum outcome act(const struct setup *s, struct peer *p, struct peer *q)
{
	u32 unread = peer_unread(p);
	u32 cap = smcr_ring_cap(&p->tx);
	u64 n;
	u32 i;

	switch (rnd(8)) {
	case 0:
	case 1:
		/* the application writes; the send buffer holds three rings */
		n = some(cap) + 1;
		if (n > s->bytes - p->written)
			n = s->bytes - p->written;
		if (n && peer_unsent(p) + n <= 3ULL * cap)
			peer_write(p, (u32)n,
				   s->urgent && !rnd(10));
		break;
	case 2:
	case 3:
		n = some(smcr_ring_cap(&p->rx)) + 1;
		if (unread && !peer_read(p, min_t(u32, (u32)n, unread)))
			return BAD_DATA;
		break;
	case 4:
	case 5:
		for (i = rnd(3); i < 3; i++)
			peer_push(p, rnd_bool() ? ~0U : some(cap));
		break;
	case 6:
	case 7:
		for (i = rnd(6); i && q->out->n; i--) {
			struct item *item = wire_take(q->out);

			if (!peer_deliver(p, item, q))
				return BAD_MESSAGE;
			/* as a replay after failover, which arrives twice */
			if (item->is_cdc && !rnd(20) &&
			    !peer_deliver(p, item, q))
				return BAD_MESSAGE;
		}
		break;
	}
	return GOOD;
}

static bool all_read(const struct setup *s)
{
	return a.cons.abs == s->bytes && b.cons.abs == s->bytes;
}

static enum outcome transfer(const struct setup *s)
{
	enum outcome rc = GOOD;
	u32 i, idle = 0;

	for (i = 0; rc == GOOD && idle < 3; i++) {
		struct peer *p = rnd_bool() ? &a : &b;
		u64 before;

		/* the wire is bounded, as the queues of a queue pair are */
		if (a.out->n < WIRE_MAX - 20 && b.out->n < WIRE_MAX - 20)
			rc = act(s, p, p == &a ? &b : &a);
		if (rc != GOOD || i % 64)
			continue;
		rc = check_settled();
		if (rc != GOOD || a.written < s->bytes || b.written < s->bytes)
			continue;
		/* all is written: a round must bring something to read */
		before = a.cons.abs + b.cons.abs;
		if (!peer_read(&a, peer_unread(&a)) ||
		    !peer_read(&b, peer_unread(&b)))
			return BAD_DATA;
		idle = before == a.cons.abs + b.cons.abs ? idle + 1 : 0;
		if (all_read(s))
			break;
	}
	if (rc == GOOD && !all_read(s))
		rc = STALLED;
	if (rc == GOOD)
		rc = settle();
	for (i = 0; i < a.rx.base; i++)
		if (a.mem[i] != 0xec)
			rc = BAD_DATA;
	for (i = 0; i < b.rx.base; i++)
		if (b.mem[i] != 0xec)
			rc = BAD_DATA;
	return rc;
}

static enum outcome run(const struct setup *s)
{
	enum outcome rc;

	peer_init(&a, "A", rnd64(), s->ring_a);
	peer_init(&b, "B", rnd64(), s->ring_b);
	peers_connect(&a, &b);
	a.inlined = s->inlined;
	b.inlined = s->inlined;
	a.breaks = s->breaks;
	b.breaks = s->breaks;
	rc = transfer(s);
	peer_exit(&a);
	peer_exit(&b);
	return rc;
}

static struct smcr_ring rnd_ring(u32 max)
{
	struct smcr_ring ring = { .base = rnd_bool() ? 4 : 0 };

	ring.size = ring.base + rnd_in(1, rnd_bool() ? max : 20);
	return ring;
}

static void expect_good(const struct setup *s)
{
	enum outcome rc = run(s);

	KTAP_CHECK(rc == GOOD, 1, "%s: A %u..%u, B %u..%u, %llu bytes",
		   outcome_name[rc], s->ring_a.base, s->ring_a.size,
		   s->ring_b.base, s->ring_b.size, s->bytes);
}

TEST(model_data__small_rings)
{
	u32 i;

	covers("CDC-16 CDC-26 CDC-33");
	for (i = 0; i < 3000; i++) {
		struct setup s = {
			.ring_a = rnd_ring(300),
			.ring_b = rnd_ring(300),
			.bytes = rnd_in(1, 1500),
		};

		expect_good(&s);
	}
}

TEST(model_data__urgent)
{
	u32 i, kept = 0;

	covers("CDC-36 CDC-41");
	for (i = 0; i < 1500; i++) {
		struct setup s = {
			.ring_a = rnd_ring(300),
			.ring_b = rnd_ring(300),
			.bytes = rnd_in(1, 1500),
			.urgent = true,
			.inlined = rnd_bool(),
		};

		expect_good(&s);
		kept += a.n_kept + b.n_kept;
	}
	EXPECT_TRUE(kept > 100);
}

TEST(model_data__real_rings)
{
	u32 i;

	for (i = 0; i < 6; i++) {
		struct setup s = {
			.ring_a = { i & 1 ? 4 : 0, 16384 },
			.ring_b = { i & 1 ? 4 : 0, 16384 << i },
			.bytes = 1 << 20,
			.urgent = i > 3,
		};

		expect_good(&s);
	}
}

TEST(model_data__many_wraps)
{
	/* beyond 65536 wraps of the smaller ring, and of the sequence number */
	struct setup s = {
		.ring_a = { 4, 7 },
		.ring_b = { 0, 3 },
		.bytes = 200 * 1024,
	};

	expect_good(&s);
}

/* The checks above have to fail when a rule is broken. */
static enum outcome broken(u32 breaks)
{
	enum outcome rc = GOOD;
	u32 i;

	/* rings of which a tenth is more than a byte; many runs, as few fail */
	for (i = 0; i < 20000 && rc == GOOD; i++) {
		struct setup s = {
			.ring_a = { 4, 304 },
			.ring_b = { 0, 100 },
			.bytes = 2000,
			.breaks = breaks,
		};

		rc = run(&s);
	}
	return rc;
}

TEST(model_data__notices_broken_rules)
{
	EXPECT_EQ(broken(BREAK_LATE_B), LOST_WAKEUP);
	EXPECT_EQ(broken(BREAK_B_UPDATE), LOST_WAKEUP);
	EXPECT_EQ(broken(BREAK_B_ARRIVAL), LOST_WAKEUP);
	EXPECT_EQ(broken(BREAK_HALF_CDC), BAD_DATA);
}
