// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's own files of connections and links, and the core, between two
 * hosts in user space: see shell/. Links fail in every way and at every point
 * of the code, tasks run in any order, and elements are reused at once. Each
 * byte has to arrive at its place, nothing may be written elsewhere, each
 * connection has to be released, and no memory may be left.
 *
 * RUNS= is the number of seeds that each test runs. With PART=N the sanitized program
 * runs the Nth part of the usual number. With fewer than usual nothing is asserted about
 * how often something happens.
 * FROM= is the first seed. RUN= runs one seed only, V=1 prints every step of it.
 * TURNS= is for shell__orders.
 */
#include "shell/shell.h"
#include "ktap.h"

#include <signal.h>
#include <unistd.h>

const char *kernel_trouble(void);

struct kind {
	bool aborts, urgent, orderly, may_die, storm, fine, late, small, held, short_mem, no_mem, spread, reads, stays, turns, keeps;
	u8 links;
};

static u64 now_seed;

/* A sanitizer ends the program: print the seed */
static void aborted(int sig)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "# seed %llu was at it\n", now_seed);

	fflush(stdout);
	n = write(1, text, n);
	_exit(134 + 0 * n);
}

static void draw_world(const struct kind *k)
{
	memset(&w, 0, sizeof(w));
	w.elem_size = 16 * (3 + pick(8));
	w.n_elems = 1 + pick(ELEMS_MAX);
	w.base = chance(2) ? 4 : 0;
	w.first_sndbuf = 16 + pick(80);
	w.sndbuf = w.first_sndbuf + (chance(2) ? pick(200) : 0);
	w.n_links = k->links ?: 2 + pick(LINKS_MAX - 1);
	w.breaks = pick(chance(2) ? 12 : 5);
	w.pace = 1 + pick(chance(2) ? 40 : 5);
	small_sq = 8 << pick(3);
	w.slow_ack = 1 + pick(chance(2) ? 3 : 40);
	w.slow_cq = 1 + pick(chance(2) ? 2 : 10);
	w.slow_work = 1 + pick(chance(2) ? 2 : 10);
	w.tries = 40;
	w.orderly = k->orderly && chance(2);
	w.may_die = k->may_die;
	w.n_conns = 1 + pick(16);
	w.aborts = k->aborts ? 4 + pick(13) : 0;
	w.urgent = k->urgent;
	w.late_cq = k->late ? 4 + pick(20) : 0;
	w.held = k->held;
	w.short_mem = k->short_mem;
	w.no_mem = k->no_mem ? 2 + pick(3) : 0;
	w.stays = k->stays;
	w.keeps = k->keeps;
	w.spreads = k->spread ? 1 + pick(60) : 0;
	w.slow_llc = k->held ? 800 : 40;
	if (k->small) {
		w.n_elems = 1 + pick(2);
		w.elem_size = 48;
		w.n_conns = 1 + pick(2);
		w.first_sndbuf = 16 + pick(32);
		w.sndbuf = w.first_sndbuf;
		w.n_links = 2;
		w.breaks = 1 + pick(2);
		w.pace = 1;
	}
	if (k->held) {		/* rings wrap while a packet is on its way */
		w.elem_size = 16 * (2 + pick(3));
		w.n_elems = 2 + pick(ELEMS_MAX - 1);
		w.sndbuf = 400;
		w.breaks = 4 + pick(10);
	}
	if (k->turns) {		/* a ring takes far more than SMCR_TX_TURN posts */
		w.turns = true;
		w.elem_size = 2048;
		w.n_elems = 2;
		w.n_conns = 2;
		w.first_sndbuf = 2048;
		w.sndbuf = 2048;
		small_sq = 64;
	}
	if (k->reads) {		/* many messages of a side that only reads */
		w.stream = 500000;
		w.elem_size = 32;
		w.first_sndbuf = 200;
		w.sndbuf = 200;
		w.n_conns = 1;
		w.n_links = 2;
		w.breaks = 1;
	}
	if (!k->storm)
		return;
	/* many connections on few links with short queues; links come and go */
	w.n_elems = ELEMS_MAX - pick(2);
	w.n_conns = 12 + pick(16);
	w.n_links = 3 + pick(2);
	w.breaks = 6 + pick(16);
	w.pace = 1 + pick(10);
	w.orderly = k->orderly;
	w.slow_ack = 4 + pick(40);
	small_sq = 8;
}

static bool run(const struct kind *k, u64 seed)
{
	static const unsigned int gaps[] = { 5, 20, 60, 200, 1000 };
	const char *who = "";
	bool ok;

	now_seed = seed;
	kernel_start(seed, gaps[seed % (k->fine ? 2 : ARRAY_SIZE(gaps))]);
	draw_world(k);
	rdma_start();
	group_start();
	apps_start();
	if (!k->reads)
		later(pick(chance(2) ? 300 : 30), group_break, NULL, 0);
	if (k->spread)
		later(pick(60), group_spread, NULL, 0);
	ok = kernel_run();
	if (ok)
		apps_check();
	if (!kernel_trouble()[0])
		group_end();
	if (!kernel_trouble()[0]) {
		ok = rdma_end();
		if (!ok)
			printf("# seed %llu: completions of a link that was given up are handled\n", seed);
		if (kmem_left(&who))
			printf("# seed %llu: %u blocks are left, one of %s\n", seed,
			       kmem_left(&who), who);
		if (!ok || kmem_left(&who)) {
			kernel_end();
			return false;
		}
	} else {
		printf("# seed %llu: %s\n", seed, kernel_trouble());
	}
	ok = !kernel_trouble()[0];
	kernel_end();
	return ok;
}

static unsigned int order_moves;

/* Run a plan, then all with up to @depth more turns behind its last one */
static bool run_turns(const struct kind *k, u64 seed, struct plan *p, unsigned int depth,
		      u64 *done)
{
	unsigned int i, at = p->n_turns ? p->turn[p->n_turns - 1].at + 1 : 0, take, n;
	struct plan *next;
	bool ok;

	p->n = 0;
	p->next = 0;
	plan = p;
	ok = run(k, seed);
	plan = NULL;
	if (!ok) {
		printf("# turns:");
		for (i = 0; i < p->n_turns; i++)
			printf(" %u:%u", p->turn[i].at, p->turn[i].take);
		printf("\n");
		return false;
	}
	++*done;
	order_moves += w.moves;
	if (!depth)
		return true;
	next = malloc(sizeof(*next));
	n = min_t(unsigned int, p->n, ARRAY_SIZE(p->of));
	for (; ok && at < n; at++) {
		for (take = 1; ok && take < p->of[at]; take++) {
			memcpy(next->turn, p->turn, sizeof(p->turn));
			next->turn[p->n_turns] = (struct turn){ at, take };
			next->n_turns = p->n_turns + 1;
			ok = run_turns(k, seed, next, depth - 1, done);
		}
	}
	free(next);
	return ok;
}

/* The number of seeds of a test that has `usual` ones */
static u64 n_runs(u64 usual)
{
	const char *runs = getenv("RUNS"), *part = getenv("PART");
	u64 parts = 1;

#ifdef __SANITIZE_ADDRESS__
	if (part)
		parts = strtoull(part, NULL, 0);
#else
	(void)part;
#endif
	return runs ? strtoull(runs, NULL, 0) : (usual + parts - 1) / parts;
}

static void run_many(const struct kind *k, unsigned int share)
{
	const char *one = getenv("RUN"), *most = getenv("FAILS");
	u64 n = n_runs(share);
	u64 from = getenv("FROM") ? strtoull(getenv("FROM"), NULL, 0) : 1;
	u64 seed, done = 0, moves = 0, made = 0, reads = 0, conflicts = 0, full = 0, held = 0, others = 0,
	    spread = 0, stayed = 0, lost = 0, kept = 0;
	u32 most_posts = 0;
	unsigned int fails = 0;

	signal(SIGABRT, aborted);
	if (one) {
		talk = getenv("V");
		EXPECT_TRUE(run(k, strtoull(one, NULL, 0)));
		return;
	}
	for (seed = from; seed < from + n; seed++) {
		if (!run(k, seed)) {
			EXPECT_TRUE(!"a run failed");
			if (++fails >= (most ? strtoul(most, NULL, 0) : 1))
				break;
		}
		done++;
		moves += w.moves;
		made += w.made;
		reads += w.reads;
		conflicts += w.conflicts;
		full += w.full;
		held += w.held_came;
		others += w.others;
		spread += w.spread;
		stayed += w.stayed;
		lost += w.lost;
		kept += w.kept;
		most_posts = max(most_posts, w.most_posts);
	}
	printf("# seeds from %llu: %llu runs, %llu connections, %llu moves, %llu reads, %llu conflicts, %llu times no room, %llu late packets, %llu moves to a second choice, %llu for an even load, %llu links that stay, %llu lost as they could not move, %llu queue pairs that were not destroyed\n",
	       from, done, made, moves, reads, conflicts, full, held, others, spread, stayed, lost, kept);
	if (n < share)	/* too few to say how often something happens */
		return;
	EXPECT_TRUE(k->links == 1 || moves > done / 4);
	EXPECT_TRUE(!k->turns || most_posts >= 16);
	EXPECT_TRUE(!k->stays || stayed > done / 8);
	EXPECT_TRUE(!k->no_mem || lost > done / 8);
	EXPECT_TRUE(!k->keeps || (kept > done / 8 && (k->links == 1 || lost > done / 16)));
	EXPECT_TRUE(!k->spread || spread > done / 4);
}

/* All connections end in order: nothing may be lost but links */
TEST(shell__orderly)
{
	const struct kind k = { .orderly = true };

	run_many(&k, 200);
}

/* Programs give up, close with data unread, or abort */
TEST(shell__abort)
{
	const struct kind k = { .aborts = true, .orderly = true };

	run_many(&k, 200);
}

/* Many connections, short queues, links that come and go all the time */
TEST(shell__storm)
{
	const struct kind k = { .orderly = true, .storm = true };

	covers("CDC-04 CDC-18 CDC-23 CDC-44 CONN-03 FO-04 FO-05 FO-06 FO-07 FO-09 FO-13");
	run_many(&k, 250);
}

TEST(shell__storm_abort)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true };

	covers("CONN-31 FO-16 RMB-22");
	run_many(&k, 600);
}

/* Tasks change after a few steps: reads without a lock */
TEST(shell__storm_fine)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true, .fine = true };

	covers("CONN-27");
	run_many(&k, 1500);
}

/*
 * Some completions are handled up to 700 ms late: messages that F refers to
 * have arrived, but are not handled yet (J-11)
 */
TEST(shell__late)
{
	const struct kind k = { .orderly = true, .storm = true, .late = true };

	covers("FO-08");
	run_many(&k, 200);
}

/* Urgent data on connections that move */
TEST(shell__urgent)
{
	const struct kind k = { .orderly = true, .urgent = true };

	run_many(&k, 200);
}

TEST(shell__urgent_storm)
{
	const struct kind k = { .orderly = true, .urgent = true, .storm = true, .aborts = true };

	run_many(&k, 200);
}

/* The last link may fail, too: all connections end, nothing is left */
TEST(shell__dies)
{
	const struct kind k = { .orderly = true, .may_die = true, .aborts = true };

	run_many(&k, 200);
}

TEST(shell__storm_dies)
{
	const struct kind k = { .orderly = true, .may_die = true, .storm = true, .aborts = true };

	run_many(&k, 200);
}

/*
 * Packets that a switch delays arrive after connections have left a failed link
 */
TEST(shell__held)
{
	const struct kind k = { .orderly = true, .aborts = true, .held = true };

	covers("FO-03");
	run_many(&k, 300);
}

TEST(shell__storm_held)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true, .held = true };

	covers("FO-03");
	run_many(&k, 300);
}

/*
 * 32768 messages of a side without data: the sequence number of its F is not
 * stale
 */
TEST(shell__reader)
{
	const struct kind k = { .reads = true };

	covers("FO-04");
	run_many(&k, 2);
}

/* The send buffer cannot be mapped for the first other link */
TEST(shell__no_memory)
{
	const struct kind k = { .storm = true, .orderly = true, .short_mem = true };

	covers("FO-01");
	run_many(&k, 100);
}

/*
 * The send buffer cannot be mapped for any other link: the connection is lost
 * while its group lives, and A reports that to the peer, which does not look at
 * TCP
 */
TEST(shell__no_move)
{
	const struct kind k = { .orderly = true, .no_mem = true, .aborts = true };

	covers("CONN-23 RMB-22");
	/* 300 runs lost 36 to 62 connections, too close to the 37 below which run_many() fails */
	run_many(&k, 1000);
}

TEST(shell__storm_no_move)
{
	const struct kind k = { .storm = true, .orderly = true, .no_mem = true, .aborts = true,
				.spread = true, .stays = true };

	covers("CONN-23 RMB-22");
	run_many(&k, 300);
}

/*
 * A device neither flushes nor destroys a queue pair, and may repeat its WRITEs
 * at any time: what they read stays mapped
 */
TEST(shell__kept)
{
	const struct kind k = { .orderly = true, .aborts = true, .keeps = true };

	covers("RMB-26");
	run_many(&k, 600);
}

TEST(shell__storm_kept)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true, .keeps = true,
				.may_die = true };

	covers("RMB-26");
	run_many(&k, 300);
}

/* The only link, and so the group and its connections end while WRITEs are pending */
TEST(shell__kept_alone)
{
	const struct kind k = { .orderly = true, .may_die = true, .aborts = true, .keeps = true,
				.links = 1 };

	covers("RMB-26");
	run_many(&k, 600);
}

/*
 * Connections move from links that work, for balance, while links come and go
 */
TEST(shell__spread)
{
	const struct kind k = { .orderly = true, .aborts = true, .spread = true };

	covers("FO-06 FO-07 LG-29 LG-47");
	run_many(&k, 300);
}

TEST(shell__storm_spread)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true, .fine = true,
				.urgent = true, .spread = true };

	covers("LG-47");
	run_many(&k, 300);
}

TEST(shell__spread_dies)
{
	const struct kind k = { .orderly = true, .may_die = true, .aborts = true, .late = true,
				.short_mem = true, .spread = true };

	covers("LG-47");
	run_many(&k, 200);
}

/* Links that drain are used again, as the others fail meanwhile */
TEST(shell__stays)
{
	const struct kind k = { .orderly = true, .aborts = true, .stays = true };

	covers("FO-24");
	run_many(&k, 1000);
}

TEST(shell__storm_stays)
{
	const struct kind k = { .orderly = true, .storm = true, .aborts = true, .fine = true,
				.urgent = true, .spread = true, .stays = true };

	covers("FO-24");
	run_many(&k, 300);
	/* withheld data wait for nothing but the link that is used again */
	EXPECT_TRUE(run(&k, 21413));
}

/* Data that take more posts than SMCR_TX_TURN, the limit under one lock */
TEST(shell__turns)
{
	const struct kind k = { .orderly = true, .aborts = true, .turns = true };

	run_many(&k, 200);
}

/*
 * Small worlds: all orders that differ from the first in up to TURNS= steps (1)
 */
TEST(shell__orders)
{
	const struct kind k = { .orderly = true, .small = true, .aborts = true };
	const char *env = getenv("TURNS");
	unsigned int depth = env ? strtoul(env, NULL, 0) : 1;
	u64 n = n_runs(8), seed, done = 0;
	struct plan p = { };

	signal(SIGABRT, aborted);
	for (seed = 1; seed <= n; seed++) {
		p.n_turns = 0;
		EXPECT_TRUE(run_turns(&k, seed, &p, min_t(unsigned int, depth, 3), &done));
	}
	printf("# %llu worlds, %llu orders, %u moves\n", n, done, order_moves);
}

static void run_task(const char *name, void (*fn)(void *arg, int n), int len)
{
	u64 n = n_runs(100), seed;

	signal(SIGABRT, aborted);
	for (seed = 1; seed <= n; seed++) {
		now_seed = seed;
		kernel_start(seed, 1000);
		task_start(name, fn, NULL, len);
		kernel_run();
		if (kernel_trouble()[0])
			printf("# seed %llu: %s\n", seed, kernel_trouble());
		EXPECT_TRUE(!kernel_trouble()[0]);
		kernel_end();
	}
}

/* The lookup of an RToken by key agrees with a search of all */
TEST(shell__rtokens)
{
	covers("LLC-57 LLC-67 RMB-03");
	run_task("rtokens", rtokens_run, 3000);
}

/* A group ends when it has had no connection for T_LGR_IDLE */
TEST(shell__idle)
{
	covers("LG-39");
	run_task("idle", idle_run, 200);
}

/* A completion of a socket's earlier connection does not count for this one */
TEST(shell__reuse)
{
	covers("FO-04");
	run_task("reuse", reuse_run, 500);
}
