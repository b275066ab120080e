// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of net/core/tx_rules.h: each rule by itself, and its effect in a small simulation
 * of a connection (latency, window, send buffer, speed of writer and reader).
 */
#include "model.h"
#include "tx_rules.h"

static const struct smcr_ring ring256k = { 0, 256 * 1024 }, ring4k = { 0, 4096 };

static struct smcr_tx_facts idle_facts(u64 unsent)
{
	struct smcr_tx_facts f = {
		.size = 256 * 1024,
		.unsent = unsent,
		.may = unsent,
		.max = ~0U,
	};

	return f;
}

static enum smcr_tx_do next_on(const struct smcr_ring *ring, const struct smcr_tx_facts *f, u32 *len)
{
	struct smcr_pos prod = { };
	struct smcr_tx_plan plan = { };
	enum smcr_tx_do next = smcr_tx_next(f, ring, &prod, 0, &plan);

	*len = plan.len;
	return next;
}

static enum smcr_tx_do next_of(const struct smcr_tx_facts *f, u32 *len)
{
	return next_on(&ring256k, f, len);
}

TEST(smcr_tx_next__idle_data_never_wait)
{
	struct smcr_tx_facts f = idle_facts(1);
	u32 len;

	covers("CDC-21");
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	EXPECT_EQ(len, 1);
	f.more = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
}

TEST(smcr_tx_next__hold)
{
	struct smcr_tx_facts f = idle_facts(16 * 1024 - 1);
	u32 len;

	covers("CDC-22");
	f.pending = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_HOLD);
	f.unsent = f.may = 16 * 1024;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);
	EXPECT_EQ(len, 16 * 1024);

	/* TCP_NODELAY, urgent data and a flush do not wait */
	f.unsent = f.may = 1;
	f.nodelay = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	f.nodelay = false;
	f.urgent = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	f.urgent = false;
	f.flush = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);

	/* MSG_MORE waits for more, whatever TCP_NODELAY says */
	f.flush = false;
	f.more = f.nodelay = true;
	f.unsent = f.may = 64 * 1024 - 1;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_HOLD);
	f.unsent = f.may = 64 * 1024;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);

	/* a small send buffer must not wait for more than half of itself */
	f = idle_facts(8 * 1024);
	f.size = 16 * 1024;
	f.pending = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);
	f.unsent = f.may = 8 * 1024 - 1;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_HOLD);

	/* a bound: nothing may be written */
	f = idle_facts(100);
	f.may = 0;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_HOLD);
}

TEST(smcr_tx_next__signal)
{
	struct smcr_tx_facts f = idle_facts(100);
	u32 len;

	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	f.unsignalled = 8 * 1024 - 101;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	f.unsignalled = 8 * 1024 - 100;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);
	f.unsignalled = 0;
	f.last = true;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);

	/* a post that fills the window: the rest waits for the peer, or for a completion */
	f = idle_facts(4097);
	EXPECT_EQ(next_on(&ring4k, &f, &len), SMCR_TX_WRITE_SIGNAL);
	EXPECT_EQ(len, 4096);
	f = idle_facts(4096);
	EXPECT_EQ(next_on(&ring4k, &f, &len), SMCR_TX_WRITE);

	/* a flush needs the completion of the last byte only */
	f = idle_facts(200);
	f.flush = true;
	f.may = 100;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE);
	f.may = 200;
	EXPECT_EQ(next_of(&f, &len), SMCR_TX_WRITE_SIGNAL);
}

TEST(smcr_tx_part__split)
{
	EXPECT_EQ(smcr_tx_part(16 * 1024, 16 * 1024), 64 * 1024);
	EXPECT_EQ(smcr_tx_part(256 * 1024, 256 * 1024), 64 * 1024);
	EXPECT_EQ(smcr_tx_part(512 * 1024, 256 * 1024), 64 * 1024);
	EXPECT_EQ(smcr_tx_part(512 * 1024, 512 * 1024), 256 * 1024);
	EXPECT_EQ(smcr_tx_part(4 << 20, 1 << 20), (1 << 20) - 256 * 1024);
}

/*
 * The simulation. A writer queues @write bytes each @think ns while there is room. A post
 * arrives @latency ns later, and its completion is back another @latency later. The send queue
 * has room for @depth posts, and of these the link signals one in four, as the module's does.
 * The reader takes @read ns for a KiB. It announces its consumption by smcr_rx_update_due(),
 * which also frees the send buffer.
 */
struct world {
	u32 latency, think, read;
	u32 write, ring, size, depth;
	u64 total;
	bool nodelay;
	bool signal_all;	/* without the signal rule */
	bool no_split;		/* without the split rule */
};

enum { MAX_EVENTS = 4096 };
enum what { E_WRITE, E_ARRIVAL, E_DONE, E_READ, E_CURSOR };

struct event {
	u64 at, mark;
	u32 sq;			/* E_DONE: posts of the send queue up to this one */
	enum what what;
	bool blocked;
};

struct run {
	const struct world *w;
	struct smcr_ring ring;
	struct event ev[MAX_EVENTS];
	u32 n_ev;
	u64 now;
	u64 queued, done, signalled, cons;	/* writer; cons as announced to it */
	struct smcr_pos prod;
	u32 pends, sq, sq_unsignalled;		/* posts: signalled; in the send queue */
	bool blocked, waits;
	u64 got, taken, acked;			/* reader */
	bool peer_blocked, reading;
	u64 last_arrival;
	u32 posts, completions, updates;
	u64 first_byte, end;
};

static void later(struct run *r, u64 at, enum what what, u64 mark, bool blocked)
{
	if (r->n_ev == MAX_EVENTS)
		abort();
	r->ev[r->n_ev++] = (struct event){ at, mark, 0, what, blocked };
}

static void send(struct run *r, u64 mark, bool blocked, bool signal)
{
	u64 at = r->now + r->w->latency;

	if (at < r->last_arrival)
		at = r->last_arrival;
	r->last_arrival = at;
	later(r, at, E_ARRIVAL, mark, blocked);
	r->blocked = blocked;
	r->sq++;
	if (!signal && ++r->sq_unsignalled < r->w->depth / 4)
		return;
	later(r, at + r->w->latency, E_DONE, signal ? mark : 0, false);
	r->ev[r->n_ev - 1].sq = signal ? r->sq_unsignalled + 1 : r->sq_unsignalled;
	r->sq_unsignalled = 0;
	if (signal) {
		r->pends++;
		r->signalled = mark;
	}
}

static void push(struct run *r)
{
	const struct world *w = r->w;
	struct smcr_tx_plan plan;
	enum smcr_tx_do next;

	while (r->queued > r->prod.abs && r->sq < w->depth) {
		struct smcr_tx_facts f = {
			.size = w->size,
			.unsent = r->queued - r->prod.abs,
			.may = r->queued - r->prod.abs,
			.unsignalled = r->prod.abs - r->signalled,
			.max = ~0U,
			.pending = r->pends,
			.nodelay = w->nodelay,
			.flush = r->queued == w->total,
		};

		next = smcr_tx_next(&f, &r->ring, &r->prod, r->cons, &plan);
		if (next == SMCR_TX_HOLD)
			return;
		if (next == SMCR_TX_BLOCKED) {
			if (!r->blocked)
				send(r, r->prod.abs, true, false);
			return;
		}
		if (w->no_split)
			smcr_tx_plan(&r->ring, &r->prod, r->cons, f.may, ~0U, &plan);
		r->posts++;
		smcr_pos_add(&r->ring, &r->prod, plan.len);
		send(r, r->prod.abs, plan.blocked, w->signal_all || next == SMCR_TX_WRITE_SIGNAL);
	}
}

static void freed(struct run *r, u64 mark)
{
	if (mark > r->done)
		r->done = mark;
	if (r->waits && r->w->size - (r->queued - r->done) >= r->w->size / 3) {
		r->waits = false;
		later(r, r->now, E_WRITE, 0, false);
	}
	push(r);
}

static void do_write(struct run *r)
{
	u64 room = r->w->size - (r->queued - r->done), n = r->w->write;

	if (n > r->w->total - r->queued)
		n = r->w->total - r->queued;
	if (!n)
		return;
	if (n > room)
		n = room;
	if (!n) {
		r->waits = true;
		return;
	}
	r->queued += n;
	push(r);
	later(r, r->now + r->w->think, E_WRITE, 0, false);
}

static void window(struct run *r)
{
	struct smcr_rx_window win = {
		.cap = smcr_ring_cap(&r->ring),
		.prod_abs = r->got,
		.cons_abs = r->taken,
		.announced_abs = r->acked,
		.peer_blocked = r->peer_blocked,
	};

	if (!smcr_rx_update_due(&win))
		return;
	r->acked = r->taken;
	r->updates++;
	later(r, r->now + r->w->latency, E_CURSOR, r->taken, false);
}

static void start_read(struct run *r)
{
	if (r->reading || r->got == r->taken)
		return;
	r->reading = true;
	later(r, r->now + 1 + (r->got - r->taken) * r->w->read / 1024, E_READ, r->got, false);
}

/* False: nothing happens any more, and not all has arrived */
static bool simulate(const struct world *w, struct run *r)
{
	u32 i, first;
	struct event e;

	memset(r, 0, sizeof(*r));
	r->w = w;
	r->ring.size = w->ring;
	later(r, 0, E_WRITE, 0, false);
	while (r->n_ev) {
		for (i = 1, first = 0; i < r->n_ev; i++)
			if (r->ev[i].at < r->ev[first].at)
				first = i;
		e = r->ev[first];
		memmove(&r->ev[first], &r->ev[first + 1], (--r->n_ev - first) * sizeof(e));
		r->now = e.at;
		switch (e.what) {
		case E_WRITE:
			do_write(r);
			break;
		case E_ARRIVAL:
			if (e.mark && !r->first_byte)
				r->first_byte = r->now;
			r->got = e.mark;
			r->peer_blocked = e.blocked;
			window(r);
			start_read(r);
			break;
		case E_READ:
			r->reading = false;
			r->taken = e.mark;
			r->end = r->now;
			window(r);
			start_read(r);
			break;
		case E_CURSOR:
			r->cons = e.mark;
			freed(r, e.mark);
			break;
		case E_DONE:
			r->sq -= e.sq;
			r->completions++;
			if (e.mark)
				r->pends--;
			freed(r, e.mark);
			break;
		}
	}
	return r->taken == w->total && !r->pends;
}

static struct world world_of(u32 write, u32 think)
{
	struct world w = {
		.latency = 10000,
		.think = think,
		.read = 100,
		.write = write,
		.ring = 256 * 1024,
		.size = 256 * 1024,
		.depth = 256,
		.total = 8 << 20,
	};

	return w;
}

static struct run a, b;

static void compare(const char *rule, const struct world *with, const struct world *without)
{
	ASSERT_TRUE(simulate(with, &a));
	ASSERT_TRUE(simulate(without, &b));
	printf("# %-7s with: %6u posts %6u completions %5u updates, first byte %7llu ns, end %9llu ns\n",
	       rule, a.posts, a.completions, a.updates, a.first_byte, a.end);
	printf("# %-7s  not: %6u posts %6u completions %5u updates, first byte %7llu ns, end %9llu ns\n",
	       "", b.posts, b.completions, b.updates, b.first_byte, b.end);
}

TEST(effect__hold)
{
	struct world with = world_of(1024, 1000), without = with;

	/* a fast writer of 1 KiB: fewer posts, and not later */
	without.nodelay = true;
	compare("hold", &with, &without);
	EXPECT_LE(a.posts * 3, b.posts);
	EXPECT_LE(a.end, b.end + 2 * with.latency);
}

TEST(effect__signal)
{
	struct world with = world_of(1024, 1000), without;

	with.nodelay = true;
	without = with;
	without.signal_all = true;
	compare("signal", &with, &without);
	EXPECT_EQ(a.posts, b.posts);
	EXPECT_LE(a.completions * 4, b.completions);
	EXPECT_LE(a.end, b.end + 2 * with.latency);
}

TEST(effect__split)
{
	struct world with = world_of(1 << 20, 1000), without;

	/* the reader reads a post while the next one arrives */
	with.ring = with.size = 512 * 1024;
	with.total = 1 << 20;
	without = with;
	without.no_split = true;
	compare("split", &with, &without);
	EXPECT_LE(b.posts + 1, a.posts);
	EXPECT_LE(a.end, b.end);
}

/* Whatever the speeds, sizes and rules are, all data arrive */
TEST(effect__no_standstill)
{
	u32 i;

	for (i = 0; i < 2000; i++) {
		struct world w = {
			.latency = rnd(4) ? 1 + rnd(100000) : 1,
			.think = rnd(3) ? rnd(5000) : 0,
			.read = rnd(3) ? rnd(3000) : 0,
			.write = 1 + rnd(rnd_bool() ? 200 : 100000),
			.ring = 16384U << rnd(6),
			.size = 16384U << rnd(6),
			.depth = 8U << rnd(6),
			.nodelay = rnd_bool(),
			.signal_all = !rnd(8),
			.no_split = !rnd(8),
		};

		w.total = 1 + rnd(w.write < 200 ? 100000 : 1000000);
		KTAP_CHECK(simulate(&w, &a), 0,
			   "latency %u think %u read %u write %u ring %u size %u depth %u total %llu nodelay %u: %llu have arrived",
			   w.latency, w.think, w.read, w.write, w.ring, w.size, w.depth, w.total, w.nodelay, a.taken);
	}
}
